import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { packState, readArchive, type StateArchive, unpackState } from './state-archive.ts';
import { ensureStateFolder } from './state-folder.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

const key = Buffer.alloc(32, 1);

function archiveOf(...paths: readonly string[]): Buffer {
  const files = paths.map((path) => ({ path: path.split('/'), data: Buffer.from(`new ${path}`).toString('base64') }));
  const created = '2026-01-01T00:00:00.000Z';
  return gzipSync(JSON.stringify({ quartermaster: 'state', version: 1, workspace: '/w', created, files }));
}

test('a backup comes back, and the state before it is kept', async () => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  await writeFile(layout.tokens, 'old', { mode: 0o600 });
  await writeFile(join(layout.journal, 'a.jsonl'), 'old', { mode: 0o600 });
  const archive = readArchive(packState(layout, 0, key), 'backup');
  await writeFile(layout.tokens, 'newer', { mode: 0o600 });
  await unpackState(layout, archive, 'before-1');
  expect(await readFile(layout.tokens, 'utf8')).toBe('old');
  expect(await readFile(join(layout.journal, 'a.jsonl'), 'utf8')).toBe('old');
  expect(await readFile(join(layout.folder, 'before-1', 'tokens.json'), 'utf8')).toBe('newer');
  expect((await readdir(layout.folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test.each([
  [['serve.json']],
  [['lock/hub.json']],
  [['origin.json']],
  [['before-1/tokens.json']],
  [['restoring-before-1/tokens.json']],
  [['placing-before-1/tokens.json']],
  [['tokens.json.tmp']],
  [['tokens.json', 'tokens.json']],
  [['journal/a', 'journal']],
  [['journal', 'journal/a']],
  [['.hidden']],
  [['journal/../../x']],
])('a file with %j is no backup', (paths) => {
  expect(() => readArchive(archiveOf(...paths), 'backup')).toThrow("is not a backup of Quartermaster's state");
});

test('a backup that cannot be written leaves the state as it was', async () => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  await writeFile(layout.tokens, 'old', { mode: 0o600 });
  const data = Buffer.from('new').toString('base64');
  // Longer than any file system takes.
  const files: StateArchive['files'] = [
    { path: ['tokens.json'], data },
    { path: ['x'.repeat(300)], data },
  ];
  const archive: StateArchive = { quartermaster: 'state', version: 1, workspace: '/w', created: '', files };
  await expect(unpackState(layout, archive, 'before-1')).rejects.toThrow();
  expect(await readFile(layout.tokens, 'utf8')).toBe('old');
  expect((await readdir(layout.folder)).filter((name) => /before|tmp/.test(name))).toEqual([]);
});
