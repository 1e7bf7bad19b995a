import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually } from '../../../test/support/within.ts';
import { createSystemClock, systemRandom } from '../../base/index.ts';
import { createTokenBook } from '../../governance/index.ts';
import { ensureStateFolder } from './state-folder.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';
import { createFileTokenStore } from './token-file.ts';

const deps = { clock: createSystemClock(), random: systemRandom };

test('reading alone makes no folder', async () => {
  const layout = await temporaryWorkspace();
  expect(await createFileTokenStore(layout).load()).toEqual([]);
  await expect(stat(layout.folder)).rejects.toMatchObject({ code: 'ENOENT' });
});

test(verifies('token:once', 'a token outlives the process that issued it, and the file does not hold it'), async () => {
  const layout = await temporaryWorkspace();
  const book = await createTokenBook({ ...deps, store: createFileTokenStore(layout) });
  const parent = await book.issue({ agent: 'lead' });
  const child = await book.issue({ agent: 'tester', parent: parent.id, run: 'run-1' });
  const later = await createTokenBook({ ...deps, store: createFileTokenStore(layout) });
  expect(later.authenticate(child.token)).toMatchObject({ agent: 'tester', chain: ['tester', 'lead'], run: 'run-1' });
  const text = await readFile(layout.tokens, 'utf8');
  for (const { token } of [parent, child]) expect(text).not.toContain(token.split('_').slice(2).join('_'));
  expect((await stat(layout.tokens)).mode & 0o777).toBe(0o600);
});

test('books that change one file at the same time lose nothing', async () => {
  const layout = await temporaryWorkspace();
  const open = () => createTokenBook({ ...deps, store: createFileTokenStore(layout) });
  const books = await Promise.all([open(), open(), open()]);
  const issued = await Promise.all(books.flatMap((book) => [book.issue({ agent: 'a' }), book.issue({ agent: 'b' })]));
  await books[0]?.revoke(issued[0]?.id ?? '');
  await books[2]?.issue({ agent: 'c' });
  const last = await open();
  expect(last.authenticate(issued[0]?.token ?? '')).toBeUndefined();
  for (const { token } of issued.slice(1)) expect(last.authenticate(token)).toBeDefined();
  expect(last.list()).toHaveLength(6);
});

test.each([
  ['torn', '{"version":1,"tokens":[{'],
  ['of another version', '{"version":2,"tokens":[]}'],
  ['with a row that is none', '{"version":1,"tokens":[{"id":"x"}]}'],
])('a file that is %s is refused and not overwritten', async (_what, text) => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  await writeFile(layout.tokens, text);
  const store = createFileTokenStore(layout);
  const error = { code: 'CONFIG_INVALID', hint: expect.stringContaining('issue every agent a new token') };
  await expect(store.load()).rejects.toMatchObject(error);
  await expect(store.change(() => ({ added: [], removed: [] }))).rejects.toMatchObject(error);
  expect(await readFile(layout.tokens, 'utf8')).toBe(text);
});

test('a change of another process is noticed, and so is the end of the file', async () => {
  const layout = await temporaryWorkspace();
  const store = createFileTokenStore(layout);
  const book = await createTokenBook({ ...deps, store });
  await book.issue({ agent: 'first' });
  let notices = 0;
  const stop = store.onTokensChange(() => notices++);
  onTestFinished(stop);
  await eventually(async () => {
    const other = await createTokenBook({ ...deps, store: createFileTokenStore(layout) });
    await other.issue({ agent: 'another' });
    return notices > 0 || undefined;
  }, 'the notice of a change');
  notices = 0;
  await rm(layout.tokens);
  await eventually(() => notices > 0 || undefined, 'the notice of the end');
  await book.reload();
  expect(book.list()).toEqual([]);
});

test('an edit that throws changes nothing and frees the lock', async () => {
  const layout = await temporaryWorkspace();
  const store = createFileTokenStore(layout);
  const refuse = (): never => {
    throw new Error('no');
  };
  await expect(store.change(refuse)).rejects.toThrow('no');
  await chmod(layout.folder, 0o700);
  expect(await store.change(() => ({ added: [], removed: [] }))).toEqual([]);
});
