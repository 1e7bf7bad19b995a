import { chmod, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemRandom } from '../../base/index.ts';
import { ensureAdminToken, readAdminToken } from './admin-token.ts';
import { ensureStateFolder } from './state-folder.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

test('is made once, for its owner alone', async () => {
  const layout = await temporaryWorkspace();
  const all = await Promise.all(Array.from({ length: 5 }, () => ensureAdminToken(layout, systemRandom)));
  expect(new Set(all).size).toBe(1);
  expect(all[0]).toMatch(/^qma_[A-Za-z0-9_-]{43}$/);
  expect((await stat(layout.adminToken)).mode & 0o777).toBe(0o600);
  expect(await readAdminToken(layout)).toBe(all[0]);
});

test('is refused where others could read it, with the way out', async () => {
  const layout = await temporaryWorkspace();
  const token = await ensureAdminToken(layout, systemRandom);
  await chmod(layout.adminToken, 0o644);
  for (const use of [() => ensureAdminToken(layout, systemRandom), () => readAdminToken(layout)]) {
    const error = await use().catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${layout.adminToken} can be read by other users.`,
      hint: expect.stringContaining(`chmod 600 ${layout.adminToken}`),
    });
    expect(JSON.stringify(error)).not.toContain(token);
  }
  await chmod(layout.adminToken, 0o600);
  expect(await ensureAdminToken(layout, systemRandom)).toBe(token);
});

test.each(['', 'hunter2', `qma_${'a'.repeat(42)}`])(
  'refuses "%s" as an admin token and keeps the file',
  async (text) => {
    const layout = await temporaryWorkspace();
    await ensureStateFolder(layout);
    await writeFile(layout.adminToken, text, { mode: 0o600 });
    await expect(ensureAdminToken(layout, systemRandom)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${layout.adminToken} cannot be used: it does not hold an admin token.`,
      hint: expect.stringContaining('Delete it'),
    });
  },
);

test('does not follow a link', async () => {
  const layout = await temporaryWorkspace();
  const target = join(layout.workspace, 'target');
  await writeFile(target, `qma_${'a'.repeat(43)}`);
  await chmod(target, 0o644);
  await ensureStateFolder(layout);
  await symlink(target, layout.adminToken);
  await expect(ensureAdminToken(layout, systemRandom)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect((await stat(target)).mode & 0o777).toBe(0o644);
});

test('says that there is none yet', async () => {
  const layout = await temporaryWorkspace();
  await expect(readAdminToken(layout)).rejects.toMatchObject({ hint: 'Start `qm serve` once.' });
});
