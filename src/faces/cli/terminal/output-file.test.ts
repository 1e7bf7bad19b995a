import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemRandom } from '../../../base/index.ts';
import { checkOutput, replaceOutput } from './output-file.ts';

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'qm-output-')));
});

afterEach(() => rm(folder, { recursive: true }));

test('a file is replaced whole', async () => {
  const path = join(folder, 'a');
  await checkOutput(path);
  await replaceOutput(path, 'one', systemRandom);
  await checkOutput(path);
  await replaceOutput(path, 'two', systemRandom);
  expect(await readFile(path, 'utf8')).toBe('two');
  expect(await readdir(folder)).toEqual(['a']);
});

test('what fails at the last step leaves nothing behind', async () => {
  const path = join(folder, 'a');
  await checkOutput(path);
  // Somebody was quicker.
  await mkdir(path);
  await expect(replaceOutput(path, 'text', systemRandom)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringMatching(/cannot be written \(E[A-Z]+\)/),
    hint: expect.stringContaining('Nothing was changed'),
  });
  expect(await readdir(folder)).toEqual(['a']);
});
