import { type link, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemRandom } from '../../base/index.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';
import { createFileOnce, replaceFile } from './write-file.ts';

test('replaces a file whole, for its owner alone', async () => {
  const { workspace } = await temporaryWorkspace();
  const path = join(workspace, 'a.json');
  await replaceFile(path, 'one', systemRandom);
  await replaceFile(path, 'two', systemRandom);
  expect(await readFile(path, 'utf8')).toBe('two');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(workspace)).toEqual(['a.json']);
});

test('leaves no draft behind when it fails', async () => {
  const { workspace } = await temporaryWorkspace();
  await mkdir(join(workspace, 'folder'));
  await expect(replaceFile(join(workspace, 'folder'), 'x', systemRandom)).rejects.toThrow();
  expect(await readdir(workspace)).toEqual(['folder']);
});

test('a reader never sees a part', async () => {
  const { workspace } = await temporaryWorkspace();
  const path = join(workspace, 'a.json');
  const texts = ['a'.repeat(300_000), 'b'.repeat(200_000)];
  await replaceFile(path, texts[0] ?? '', systemRandom);
  let writing = true;
  const writer = (async () => {
    for (let i = 0; i < 20; i++) await replaceFile(path, texts[i % 2] ?? '', systemRandom);
    writing = false;
  })();
  while (writing) expect(texts).toContain(await readFile(path, 'utf8'));
  await writer;
});

test.each([
  ['with hard links', undefined],
  ['on a file system without them', withoutHardLinks],
])('creates a file exactly once among many, %s', async (_how, makeLink) => {
  const { workspace } = await temporaryWorkspace();
  const path = join(workspace, 'a');
  const created = await Promise.all(
    Array.from({ length: 8 }, (_, i) => createFileOnce(path, `text ${i}`, systemRandom, makeLink)),
  );
  expect(created.filter(Boolean)).toHaveLength(1);
  expect(await readFile(path, 'utf8')).toBe(`text ${created.indexOf(true)}`);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(workspace)).toEqual(['a']);
});

async function withoutHardLinks(..._paths: Parameters<typeof link>): Promise<void> {
  throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' });
}
