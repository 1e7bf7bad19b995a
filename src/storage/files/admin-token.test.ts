import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemRandom } from '../../base/index.ts';
import { ensureAdminToken, readAdminToken } from './admin-token.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

test('is made once, for its owner alone', async () => {
  const layout = await temporaryWorkspace();
  const all = await Promise.all(Array.from({ length: 5 }, () => ensureAdminToken(layout, systemRandom)));
  expect(new Set(all.map(({ token }) => token)).size).toBe(1);
  expect(all[0]).toEqual({ token: expect.stringMatching(/^qma_[A-Za-z0-9_-]{43}$/), warnings: [] });
  expect((await stat(layout.adminToken)).mode & 0o777).toBe(0o600);
  expect(await readAdminToken(layout.adminToken)).toEqual(all[0]);
});

test('is closed, with a warning, where others could read it', async () => {
  const layout = await temporaryWorkspace();
  const { token } = await ensureAdminToken(layout, systemRandom);
  await chmod(layout.adminToken, 0o644);
  const again = await ensureAdminToken(layout, systemRandom);
  expect(again).toEqual({ token, warnings: [expect.stringContaining('Other users could read')] });
  expect(again.warnings.join()).not.toContain(token);
  expect((await stat(layout.adminToken)).mode & 0o777).toBe(0o600);
});

test.each(['', 'hunter2', `qma_${'a'.repeat(42)}`])(
  'refuses "%s" as an admin token and keeps the file',
  async (text) => {
    const layout = await temporaryWorkspace();
    await mkdir(layout.folder);
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
  await mkdir(layout.folder);
  await symlink(target, layout.adminToken);
  await expect(ensureAdminToken(layout, systemRandom)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect((await stat(target)).mode & 0o777).toBe(0o644);
});

test('says that there is none yet', async () => {
  const layout = await temporaryWorkspace();
  await expect(readAdminToken(layout.adminToken)).rejects.toMatchObject({ hint: 'Start `qm serve` once.' });
});
