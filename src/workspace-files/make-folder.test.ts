import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemRandom } from '../base/index.ts';
import { makeFolder } from './make-folder.ts';

const deps = { random: systemRandom };
const files = [
  { file: 'a.txt', text: 'one\n' },
  { file: 'b.txt', text: 'two\n' },
];

async function makeWorkspace(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-folder-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('a folder comes with all of its files, and goes with those that were made for it', async () => {
  const workspace = await makeWorkspace();
  const takeBack = await makeFolder(deps, workspace, 'deep/down/x', files);
  expect((await readdir(join(workspace, 'deep/down/x'))).sort()).toEqual(['a.txt', 'b.txt']);
  expect(await readFile(join(workspace, 'deep/down/x/b.txt'), 'utf8')).toBe('two\n');
  expect(await readdir(join(workspace, 'deep/down'))).toEqual(['x']);
  await takeBack();
  expect(await readdir(workspace)).toEqual([]);
});

test('taken back, it leaves what others have', async () => {
  const workspace = await makeWorkspace();
  await mkdir(join(workspace, 'old'));
  await (await makeFolder(deps, workspace, 'old/x', files))();
  expect(await readdir(workspace)).toEqual(['old']);
  const takeBack = await makeFolder(deps, workspace, 'new/inner/x', files);
  await writeFile(join(workspace, 'new/mine'), '');
  await takeBack();
  expect(await readdir(join(workspace, 'new'))).toEqual(['mine']);
});

test('a file that cannot be written leaves nothing behind', async () => {
  const workspace = await makeWorkspace();
  const bad = [...files, { file: 'no/such/folder.txt', text: '' }];
  await expect(makeFolder(deps, workspace, 'deep/x', bad)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: 'Cannot make deep/x (ENOENT); it is as it was.',
  });
  expect(await readdir(workspace)).toEqual([]);
});

test('existing files stay as they are', async () => {
  const workspace = await makeWorkspace();
  await mkdir(join(workspace, 'folder'));
  await writeFile(join(workspace, 'file'), 'mine');
  await symlink('nowhere', join(workspace, 'link'));
  for (const folder of ['folder', 'file', 'link']) {
    const refused = makeFolder(deps, workspace, folder, files);
    await expect(refused).rejects.toMatchObject({ code: 'USAGE', message: `There is something at ${folder} already.` });
  }
  await expect(makeFolder(deps, workspace, 'file/x', files)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect((await readdir(workspace)).sort()).toEqual(['file', 'folder', 'link']);
  expect(await readdir(join(workspace, 'folder'))).toEqual([]);
});

test('nothing is made through a link', async () => {
  const [workspace, elsewhere] = [await makeWorkspace(), await makeWorkspace()];
  await mkdir(join(workspace, 'real'));
  await symlink(elsewhere, join(workspace, 'real/link'));
  await expect(makeFolder(deps, workspace, 'real/link/deep/x', files)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: 'real/link is a symbolic link; nothing is written through it.',
  });
  expect(await readdir(elsewhere)).toEqual([]);
});
