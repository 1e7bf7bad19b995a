import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { type PlainFile, readPlainFile, readPlainFileSync } from './plain-file.ts';

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-plain-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What both ways of reading say, which must be the same. */
async function readBoth(path: string, maxBytes = 100_000): Promise<PlainFile> {
  const found = await readPlainFile(path, maxBytes);
  expect(readPlainFileSync(path, maxBytes)).toEqual(found);
  return found;
}

test('a regular file is read as a whole, through links too, up to its limit', async () => {
  const folder = await makeFolder();
  const file = join(folder, 'file');
  const bytes = Buffer.alloc(100_000, 'x\u00e9');
  await writeFile(file, bytes);
  await symlink(file, join(folder, 'link'));
  expect(await readBoth(join(folder, 'link'))).toEqual({ kind: 'bytes', bytes });
  expect(await readBoth(file, 99_999)).toEqual({ kind: 'too-large' });
  await writeFile(file, '');
  expect(await readBoth(file)).toEqual({ kind: 'bytes', bytes: Buffer.alloc(0) });
});

test(verifies('files:plain-only', 'nothing but a regular file is opened for long'), async () => {
  const folder = await makeFolder();
  const at = (name: string): string => join(folder, name);
  await promisify(execFile)('mkfifo', [at('pipe')]);
  await mkdir(at('folder'));
  await writeFile(at('huge'), '');
  await truncate(at('huge'), 5_000_000_000);
  await symlink('loop', at('loop'));
  for (const name of ['pipe', 'null']) await symlink(name === 'pipe' ? 'pipe' : '/dev/null', at(`to-${name}`));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(at('socket'), resolve));
  onTestFinished(() => void server.close());
  const kinds = await Promise.all(
    ['pipe', 'to-pipe', 'to-null', 'socket', 'folder', 'huge', 'none', 'loop'].map(async (name) => {
      const found = await readBoth(at(name));
      return found.kind === 'failed' ? found.errno : found.kind;
    }),
  );
  expect(kinds).toEqual([
    ...['not-regular', 'not-regular', 'not-regular', 'not-regular', 'folder', 'too-large', 'absent', 'ELOOP'],
  ]);
});
