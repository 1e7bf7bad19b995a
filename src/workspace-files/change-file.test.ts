import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemRandom } from '../base/index.ts';
import { openFile, replaceAll } from './change-file.ts';

const deps = { random: systemRandom };

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-change-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('a new file is made, an old one keeps its rights', async () => {
  const folder = await makeFolder();
  const path = join(folder, 'a.yaml');
  const fresh = await openFile(deps, path, 'a.yaml');
  expect(fresh.text).toBeUndefined();
  await fresh.replace('one\n');
  await chmod(path, 0o640);
  const opened = await openFile(deps, path, 'a.yaml');
  expect(opened.text).toBe('one\n');
  await opened.replace('two\n');
  expect(await readFile(path, 'utf8')).toBe('two\n');
  expect((await stat(path)).mode & 0o777).toBe(0o640);
  expect(await readdir(folder)).toEqual(['a.yaml']);
});

test('a link stays a link, and what it leads to is changed', async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, 'real.yaml'), 'one');
  await symlink('real.yaml', join(folder, 'link.yaml'));
  await (await openFile(deps, join(folder, 'link.yaml'), 'link.yaml')).replace('two');
  expect(await readlink(join(folder, 'link.yaml'))).toBe('real.yaml');
  expect(await readFile(join(folder, 'real.yaml'), 'utf8')).toBe('two');
  await symlink('nothing', join(folder, 'dangling.yaml'));
  await expect(openFile(deps, join(folder, 'dangling.yaml'), 'dangling.yaml')).rejects.toThrow(/leads nowhere/);
});

test('a file that changed after it was read is not overwritten', async () => {
  const folder = await makeFolder();
  const path = join(folder, 'a.yaml');
  const fresh = await openFile(deps, path, 'a.yaml');
  await writeFile(path, 'theirs');
  await expect(fresh.replace('mine')).rejects.toMatchObject({ code: 'STATE_LOCKED' });
  const opened = await openFile(deps, path, 'a.yaml');
  await writeFile(path, 'theirs again');
  await expect(opened.replace('mine')).rejects.toThrow(/a\.yaml was changed by somebody else/);
  const removed = await openFile(deps, path, 'a.yaml');
  await rm(path);
  await expect(removed.replace('mine')).rejects.toThrow(/changed by somebody else/);
  expect(await readdir(folder)).toEqual([]);
});

test('a byte order mark is kept and not shown', async () => {
  const path = join(await makeFolder(), 'a.json');
  await writeFile(path, '\ufeff{}');
  const opened = await openFile(deps, path, 'a.json');
  expect(opened.text).toBe('{}');
  await opened.replace('{"a":1}');
  expect(await readFile(path, 'utf8')).toBe('\ufeff{"a":1}');
});

test('files that change together stay unchanged if one cannot be prepared', async () => {
  const folder = await makeFolder();
  const [good, bad] = [join(folder, 'a.yaml'), join(folder, 'gone', 'b.yaml')];
  await writeFile(good, 'old');
  const changes = [
    { file: await openFile(deps, good, 'a.yaml'), text: 'new' },
    { file: await openFile(deps, bad, 'gone/b.yaml'), text: 'new' },
  ];
  await expect(replaceAll(changes)).rejects.toThrow(/Cannot write gone\/b\.yaml \(ENOENT\)/);
  expect(await readFile(good, 'utf8')).toBe('old');
  expect(await readdir(folder)).toEqual(['a.yaml']);
});

test('a file that is not text, or not a file, is reported as such', async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, 'a.yaml'), Buffer.from([0xff, 0xfe, 0x00]));
  await expect(openFile(deps, join(folder, 'a.yaml'), 'a.yaml')).rejects.toThrow(/a\.yaml is not valid UTF-8/);
  await expect(openFile(deps, folder, 'folder')).rejects.toThrow(/Cannot read folder \(EISDIR\)/);
});
