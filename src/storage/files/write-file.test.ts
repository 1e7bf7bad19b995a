import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureGuardedFolder, systemRandom } from '../../base/index.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';
import { createOnceIn, replaceFile } from './write-file.ts';

test('replaces a file whole, for its owner alone', async () => {
  const layout = await temporaryWorkspace();
  const { workspace } = layout;
  const path = join(workspace, 'a.json');
  await replaceFile(layout, path, 'one', systemRandom);
  await replaceFile(layout, path, 'two', systemRandom);
  expect(await readFile(path, 'utf8')).toBe('two');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(workspace)).toEqual(['a.json']);
});

test('leaves no draft behind when it fails', async () => {
  const layout = await temporaryWorkspace();
  const { workspace } = layout;
  await mkdir(join(workspace, 'folder'));
  await expect(replaceFile(layout, join(workspace, 'folder'), 'x', systemRandom)).rejects.toThrow();
  expect(await readdir(workspace)).toEqual(['folder']);
});

test('a reader never sees a part', async () => {
  const layout = await temporaryWorkspace();
  const { workspace } = layout;
  const path = join(workspace, 'a.json');
  const texts = ['a'.repeat(300_000), 'b'.repeat(200_000)];
  await replaceFile(layout, path, texts[0] ?? '', systemRandom);
  let writing = true;
  const writer = (async () => {
    for (let i = 0; i < 20; i++) await replaceFile(layout, path, texts[i % 2] ?? '', systemRandom);
    writing = false;
  })();
  while (writing) expect(texts).toContain(await readFile(path, 'utf8'));
  await writer;
});

test.each([
  ['with hard links', undefined],
  ['on a file system without them', withoutHardLinks],
])('creates a file exactly once among many, %s', async (_how, makeLink) => {
  const layout = await temporaryWorkspace();
  const { workspace } = layout;
  const path = join(workspace, 'a');
  const folder = ensureGuardedFolder(workspace, []);
  const created = await Promise.all(
    Array.from({ length: 8 }, (_, i) => createOnceIn(folder, 'a', `text ${i}`, systemRandom, makeLink)),
  );
  folder.close();
  expect(created.filter(Boolean)).toHaveLength(1);
  expect(await readFile(path, 'utf8')).toBe(`text ${created.indexOf(true)}`);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(workspace)).toEqual(['a']);
});

function withoutHardLinks(): void {
  throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' });
}
