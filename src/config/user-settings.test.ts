import { chmod, chown, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { readUserSettings } from './user-settings.ts';

async function makeHome(): Promise<{ env: { HOME: string }; folder: string; file: string }> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'qm-home-')));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const folder = join(home, '.config', 'quartermaster');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'config.yaml'), 'trust: { paths: ["/"] }', { mode: 0o644 });
  return { env: { HOME: home }, folder, file: join(folder, 'config.yaml') };
}

test('the settings of the user are read, and there need not be any', async () => {
  const { env, file } = await makeHome();
  expect(await readUserSettings(env)).toEqual({ file, trustPaths: ['/'] });
  await rm(file);
  expect(await readUserSettings(env)).toEqual({ file, trustPaths: [] });
  expect(await readUserSettings({ HOME: '/nonexistent' })).toMatchObject({ trustPaths: [] });
  expect(await readUserSettings({})).toEqual({ file: undefined, trustPaths: [] });
});

test(verifies('files:no-links', 'settings that other users can write are an error'), async () => {
  const { env, folder, file } = await makeHome();
  await chmod(file, 0o666);
  await expect(readUserSettings(env)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('written by other users'),
  });
  await chmod(file, 0o600);
  await chmod(folder, 0o777);
  await expect(readUserSettings(env)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('written by other users'),
  });
});

test(verifies('files:no-links', 'settings that are a link, or in a linked folder, are an error'), async () => {
  const { env, folder, file } = await makeHome();
  await rm(file);
  await writeFile(join(folder, 'other.yaml'), 'trust: { paths: ["/"] }');
  await symlink('other.yaml', file);
  await expect(readUserSettings(env)).rejects.toThrow('is a symbolic link');
  const other = await makeHome();
  await rm(folder, { recursive: true });
  await symlink(other.folder, folder);
  await expect(readUserSettings(env)).rejects.toThrow('is a symbolic link');
});

test(verifies('files:no-links', 'settings of another user are an error'), async () => {
  const { env, file } = await makeHome();
  const me = process.getuid?.() ?? 0;
  // Root can give files away; anybody else can only pretend to be another user.
  if (me === 0) await chown(file, 12_345, 12_345);
  const whoami = vi.spyOn(process, 'getuid').mockReturnValue(me + 1);
  onTestFinished(() => whoami.mockRestore());
  await expect(readUserSettings(env)).rejects.toThrow('belongs to another user');
});
