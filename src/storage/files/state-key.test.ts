import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { systemRandom } from '../../base/index.ts';
import { ensureStateFolder } from './state-folder.ts';
import { ensureStateKey } from './state-key.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

test('the key is made once, for its owner alone, and is the same for all processes and after a restart', async () => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  const all = await Promise.all(Array.from({ length: 5 }, () => ensureStateKey(layout, systemRandom)));
  expect(new Set(all.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
  expect(all[0]).toHaveLength(32);
  expect((await stat(layout.stateKey)).mode & 0o777).toBe(0o600);
  expect(await ensureStateKey(layout, systemRandom)).toEqual(all[0]);
});

test.each(['', 'short', `${'a'.repeat(43)}=`, `${'a'.repeat(43)}\n\n`, '\0'.repeat(43)])(
  'a damaged key %j is replaced by a whole one',
  async (text) => {
    const layout = await temporaryWorkspace();
    await ensureStateFolder(layout);
    await writeFile(layout.stateKey, text, { mode: 0o600 });
    const key = await ensureStateKey(layout, systemRandom);
    expect(key).toHaveLength(32);
    expect(await ensureStateKey(layout, systemRandom)).toEqual(key);
    expect((await stat(layout.stateKey)).mode & 0o777).toBe(0o600);
    expect(await readFile(layout.stateKey, 'utf8')).not.toBe(text);
  },
);

test('a key that others could read is refused, with the way out', async () => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  const key = await ensureStateKey(layout, systemRandom);
  await chmod(layout.stateKey, 0o640);
  await expect(ensureStateKey(layout, systemRandom)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    hint: expect.stringContaining(`chmod 600 ${layout.stateKey}`),
  });
  await chmod(layout.stateKey, 0o600);
  expect(await ensureStateKey(layout, systemRandom)).toEqual(key);
});

test('where it cannot be written, the file is named', async () => {
  const layout = await temporaryWorkspace();
  const missing = { ...layout, stateKey: `${layout.folder}/nowhere/state-key` };
  await expect(ensureStateKey(missing, systemRandom)).rejects.toThrow('nowhere/state-key');
});
