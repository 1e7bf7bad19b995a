import { chmod, lstat, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { workspaceLayout } from './layout.ts';
import { ensureStateFolder } from './state-folder.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

test('makes a folder for its owner alone that version control leaves out', async () => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  await ensureStateFolder(layout);
  for (const folder of [layout.folder, layout.locks, layout.journal]) expect(await modeOf(folder)).toBe(0o700);
  expect(await readFile(layout.gitignore, 'utf8')).toBe('*\n');
});

test('is made once when several ask at the same time', async () => {
  const layout = await temporaryWorkspace();
  await Promise.all(Array.from({ length: 8 }, () => ensureStateFolder(layout)));
  expect(await modeOf(layout.folder)).toBe(0o700);
});

test('closes a folder that others could enter', async () => {
  const layout = await temporaryWorkspace();
  await mkdir(layout.folder);
  await chmod(layout.folder, 0o755);
  await ensureStateFolder(layout);
  expect(await modeOf(layout.folder)).toBe(0o700);
});

test('refuses a file in its place and leaves it alone', async () => {
  const layout = await temporaryWorkspace();
  await writeFile(layout.folder, 'mine');
  await expect(ensureStateFolder(layout)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: `${layout.folder} is not a folder.`,
    hint: expect.stringContaining('Move that file away'),
  });
  expect(await readFile(layout.folder, 'utf8')).toBe('mine');
});

test('refuses a symbolic link and writes nothing behind it', async () => {
  const layout = await temporaryWorkspace();
  const elsewhere = await temporaryWorkspace();
  await symlink(elsewhere.workspace, layout.folder);
  await expect(ensureStateFolder(layout)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('is a symbolic link'),
  });
  expect(await readdir(elsewhere.workspace)).toEqual([]);
});

test("does not use another user's folder, however open it is", async () => {
  const layout = await temporaryWorkspace();
  await mkdir(layout.folder);
  await chmod(layout.folder, 0o755);
  const { uid } = await lstat(layout.folder);
  const whoami = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1);
  onTestFinished(() => whoami.mockRestore());
  await expect(ensureStateFolder(layout)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`${layout.folder} belongs to another user.`),
  });
  expect(await readdir(layout.folder)).toEqual([]);
});

test('says that the workspace does not exist', async () => {
  const layout = await temporaryWorkspace();
  await expect(ensureStateFolder(workspaceLayout(join(layout.workspace, 'gone')))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    hint: 'Check that the workspace is an existing folder.',
  });
});

test('sweeps drafts that a killed process left, and no others', async () => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  const [old, fresh] = [`${layout.tokens}.old.tmp`, `${layout.tokens}.new.tmp`];
  await Promise.all([writeFile(old, ''), writeFile(fresh, ''), writeFile(layout.tokens, '')]);
  const longAgo = new Date('2020-01-01');
  await Promise.all([utimes(old, longAgo, longAgo), utimes(layout.tokens, longAgo, longAgo)]);
  await ensureStateFolder(layout);
  expect((await readdir(layout.folder)).filter((name) => name.startsWith('tokens'))).toEqual([
    'tokens.json',
    'tokens.json.new.tmp',
  ]);
});

async function modeOf(path: string): Promise<number> {
  return (await lstat(path)).mode & 0o777;
}
