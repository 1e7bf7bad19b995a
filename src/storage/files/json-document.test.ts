import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readJsonDocument } from './json-document.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

const rules = { schema: z.strictObject({ count: z.int() }), maxBytes: 100, fix: 'Delete it.' };

test('reads what is there, and nothing where nothing is', async () => {
  const layout = await temporaryWorkspace();
  const { folder: path } = layout;
  expect(await readJsonDocument(layout, path, rules)).toBeUndefined();
  await writeFile(path, '{"count":3}');
  expect(await readJsonDocument(layout, path, rules)).toEqual({ count: 3 });
});

test.each([
  ['an empty file', '', 'it is not valid JSON'],
  ['a torn one', '{"count":', 'it is not valid JSON'],
  ['another shape', '{"count":"many"}', 'count: '],
  ['a strange key', '{"count":1,"more":2}', 'the document: '],
  ['a giant', `{"count":1${' '.repeat(200)}}`, 'it is over 100 bytes'],
])('%s is an error that names the file and the fix, and stays', async (_what, text, problem) => {
  const layout = await temporaryWorkspace();
  const { folder: path } = layout;
  await writeFile(path, text);
  await expect(readJsonDocument(layout, path, rules)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`${path} cannot be used: ${problem}`),
    hint: 'Delete it.',
  });
  expect(await readFile(path, 'utf8')).toBe(text);
});

test('quotes nothing of a damaged file', async () => {
  const layout = await temporaryWorkspace();
  const { folder: path } = layout;
  await writeFile(path, 'sesame');
  const error = await readJsonDocument(layout, path, rules).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(Error);
  expect(`${error}`).not.toContain('sesame');
});

test('neither a folder nor a named pipe hangs it', async () => {
  const first = await temporaryWorkspace();
  await mkdir(first.folder);
  await expect(readJsonDocument(first, first.folder, rules)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  const second = await temporaryWorkspace();
  execFileSync('mkfifo', [second.folder]);
  await expect(readJsonDocument(second, second.folder, rules)).rejects.toMatchObject({
    message: expect.stringContaining('not a regular file'),
  });
});
