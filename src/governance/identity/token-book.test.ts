import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { type Clock, createSystemClock, systemRandom } from '../../base/index.ts';
import { hashToken } from './agent-token.ts';
import { createTokenBook } from './token-book.ts';
import type { StoredToken, TokenStore } from './token-store.ts';

const hour = 3_600_000;

test('a token stands for its agent until it expires', async () => {
  const { book, time } = await openBook();
  const issued = await book.issue({ agent: 'tester', ttlMs: hour, run: 'run-1' });
  expect(book.authenticate(issued.token)).toEqual({
    tokenId: issued.id,
    agent: 'tester',
    chain: ['tester'],
    run: 'run-1',
    runKeys: ['run:run-1'],
    expires: time.now + hour,
  });
  time.now += hour - 1;
  expect(book.authenticate(issued.token)).toBeDefined();
  time.now += 1;
  expect(book.authenticate(issued.token)).toBeUndefined();
  expect(book.list()).toMatchObject([{ id: issued.id, state: 'expired' }]);
});

test('whole milliseconds are stored, whatever the clock says', async () => {
  const { book, store, time } = await openBook();
  time.now += 0.25;
  await book.issue({ agent: 'tester', ttlMs: hour });
  expect(store.rows).toMatchObject([{ created: time.now - 0.25, expires: time.now - 0.25 + hour }]);
});

test('lasts 30 days unless told otherwise', async () => {
  const { book, time } = await openBook();
  expect((await book.issue({ agent: 'tester' })).expires).toBe(time.now + 30 * 24 * hour);
});

test(verifies('token:once', 'only the hash is stored'), async () => {
  const { book, store } = await openBook();
  const { token, id } = await book.issue({ agent: 'tester' });
  const child = await book.issue({ agent: 'scribe', parent: id, run: 'r' });
  expect(store.rows.map((row) => row.hash)).toEqual([hashToken(token), hashToken(child.token)]);
  expect(JSON.stringify(store.rows)).not.toContain(token.slice(14));
  expect(JSON.stringify(book.list())).not.toContain(hashToken(token));
  expect(JSON.stringify(book.list())).not.toContain(token.slice(14));
});

test.each(['', 'qm_', 'qm_aaaaaaaaaa_bbbb', 'Bearer x', `qm_\${TOKEN}`, `qm_${'x'.repeat(300)}`])(
  'does not know "%s"',
  async (text) => {
    const { book } = await openBook();
    await book.issue({ agent: 'tester' });
    expect(book.authenticate(text)).toBeUndefined();
  },
);

test('gives the same frozen object while nothing about the token changed', async () => {
  const { book } = await openBook();
  const { token, id } = await book.issue({ agent: 'tester' });
  const identity = book.authenticate(token);
  expect(identity).toBeDefined();
  expect(Object.isFrozen(identity)).toBe(true);
  expect(Object.isFrozen(identity?.chain)).toBe(true);
  await book.issue({ agent: 'scribe', parent: id });
  await book.reload();
  expect(book.authenticate(token)).toBe(identity);
});

test('a child carries the chain and never outlives its parent', async () => {
  const { book, time } = await openBook();
  const parent = await book.issue({ agent: 'lead', ttlMs: hour });
  const child = await book.issue({ agent: 'tester', parent: parent.id, ttlMs: 10 * hour });
  const grandchild = await book.issue({ agent: 'scribe', parent: child.id, ttlMs: hour / 2 });
  expect(child.expires).toBe(parent.expires);
  expect(grandchild.expires).toBe(time.now + hour / 2);
  expect(book.authenticate(grandchild.token)?.chain).toEqual(['scribe', 'tester', 'lead']);
});

test('a parent that is shorter in the store than its child still ends the child', async () => {
  const { book, store, time } = await openBook();
  const parent = await book.issue({ agent: 'lead' });
  const child = await book.issue({ agent: 'tester', parent: parent.id });
  store.rows = store.rows.map((row) => (row.id === parent.id ? { ...row, expires: time.now + 1000 } : row));
  await book.reload();
  expect(book.authenticate(child.token)?.expires).toBe(time.now + 1000);
  time.now += 1000;
  expect(book.authenticate(child.token)).toBeUndefined();
});

test('revoking ends the token and everything delegated from it', async () => {
  const { book, store } = await openBook();
  const parent = await book.issue({ agent: 'lead' });
  const other = await book.issue({ agent: 'lead' });
  const child = await book.issue({ agent: 'tester', parent: parent.id });
  const grandchild = await book.issue({ agent: 'scribe', parent: child.id });
  store.rows = store.rows.toReversed();
  await book.revoke(parent.id);
  for (const { token } of [parent, child, grandchild]) expect(book.authenticate(token)).toBeUndefined();
  expect(book.authenticate(other.token)).toBeDefined();
  expect(store.rows.map((row) => row.id)).toEqual([other.id]);
  await expect(book.revoke(parent.id)).rejects.toMatchObject({ code: 'TOKEN_UNKNOWN' });
});

test('a token whose parent is missing or circular in the store is nobody', async () => {
  const { book, store } = await openBook();
  const parent = await book.issue({ agent: 'lead' });
  const child = await book.issue({ agent: 'tester', parent: parent.id });
  const full = store.rows;
  store.rows = full.filter((row) => row.id === child.id);
  await book.reload();
  expect(book.authenticate(child.token)).toBeUndefined();
  expect(book.list()).toMatchObject([{ id: child.id, state: 'orphaned' }]);
  store.rows = full.map((row) => (row.id === parent.id ? { ...row, parent: child.id } : row));
  await book.reload();
  expect(book.authenticate(child.token)).toBeUndefined();
  expect(book.authenticate(parent.token)).toBeUndefined();
});

test('refuses parents that are unknown, expired, revoked or too deep', async () => {
  const { book, time } = await openBook();
  const unknown = { code: 'TOKEN_UNKNOWN' };
  await expect(book.issue({ agent: 'a', parent: 'zzzzzzzzzz' })).rejects.toMatchObject(unknown);
  const short = await book.issue({ agent: 'lead', ttlMs: 1 });
  const revoked = await book.issue({ agent: 'lead' });
  await book.revoke(revoked.id);
  time.now += 1;
  await expect(book.issue({ agent: 'a', parent: short.id })).rejects.toMatchObject(unknown);
  await expect(book.issue({ agent: 'a', parent: revoked.id })).rejects.toMatchObject(unknown);
  let last = await book.issue({ agent: 'a' });
  for (let depth = 2; depth <= 16; depth++) last = await book.issue({ agent: 'a', parent: last.id });
  expect(book.authenticate(last.token)?.chain).toHaveLength(16);
  await expect(book.issue({ agent: 'a', parent: last.id })).rejects.toMatchObject({ code: 'USAGE' });
});

test.each([
  [{ agent: '' }],
  [{ agent: '../x' }],
  [{ agent: 'a b' }],
  [{ agent: 'a'.repeat(65) }],
  [{ agent: 'a', run: '../../etc' }],
  [{ agent: 'a', ttlMs: 0 }],
  [{ agent: 'a', ttlMs: Number.NaN }],
  [{ agent: 'a', ttlMs: 1e15 }],
])('refuses %j and stores nothing', async (order) => {
  const { book, store } = await openBook();
  await expect(book.issue(order)).rejects.toMatchObject({ code: 'USAGE' });
  expect(store.rows).toEqual([]);
});

test('a change that could not be stored has no effect', async () => {
  const { book, store } = await openBook();
  const kept = await book.issue({ agent: 'tester' });
  store.fault = new Error('disk full');
  await expect(book.issue({ agent: 'tester' })).rejects.toThrow('disk full');
  await expect(book.revoke(kept.id)).rejects.toThrow('disk full');
  expect(book.list().map((token) => token.id)).toEqual([kept.id]);
  expect(book.authenticate(kept.token)).toBeDefined();
  store.fault = undefined;
  await book.revoke(kept.id);
  expect(book.authenticate(kept.token)).toBeUndefined();
});

test('two books on one store do not undo each other', async () => {
  const { book, store, clock } = await openBook();
  const other = await createTokenBook({ clock, random: systemRandom, store });
  const first = await book.issue({ agent: 'tester' });
  await other.issue({ agent: 'scribe' });
  await book.revoke(first.id);
  await other.issue({ agent: 'scribe' });
  await other.reload();
  expect(other.authenticate(first.token)).toBeUndefined();
  expect(store.rows.map((row) => row.agent)).toEqual(['scribe', 'scribe']);
});

test('a slow reload does not bring a revoked token back', async () => {
  const { book, store } = await openBook();
  const { id, token } = await book.issue({ agent: 'tester' });
  let open = (): void => {};
  store.slow = new Promise((resolve) => {
    open = resolve;
  });
  const reloading = book.reload();
  const revoking = book.revoke(id);
  open();
  await Promise.all([reloading, revoking]);
  expect(book.authenticate(token)).toBeUndefined();
});

test('tells listeners of changes, and of nothing else', async () => {
  const { book, store } = await openBook();
  let changes = 0;
  const stop = book.onTokensChange(() => changes++);
  const { id } = await book.issue({ agent: 'tester' });
  expect(changes).toBe(1);
  await book.reload();
  expect(changes).toBe(1);
  await book.revoke(id);
  expect(changes).toBe(2);
  store.rows = [];
  stop();
  await book.issue({ agent: 'tester' });
  expect(changes).toBe(2);
});

test('expired tokens leave the store a day later', async () => {
  const { book, store, time } = await openBook();
  const old = await book.issue({ agent: 'tester', ttlMs: hour });
  time.now += 24 * hour;
  await book.issue({ agent: 'tester' });
  expect(store.rows).toHaveLength(2);
  time.now += hour;
  await book.issue({ agent: 'tester' });
  expect(store.rows.map((row) => row.id)).not.toContain(old.id);
});

interface MemoryStore extends TokenStore {
  rows: readonly StoredToken[];
  fault: Error | undefined;
  slow: Promise<void> | undefined;
}

/** Stands in for a disk so that it can fail and be slow; the real one is tested with its files. */
async function openBook() {
  const store: MemoryStore = {
    rows: [],
    fault: undefined,
    slow: undefined,
    async load() {
      const seen = store.rows;
      await store.slow;
      return seen;
    },
    async change(decide) {
      if (store.fault !== undefined) throw store.fault;
      const { added, removed } = decide(store.rows);
      store.rows = [...store.rows.filter(({ id }) => !removed.includes(id)), ...added];
      return store.rows;
    },
    onTokensChange: () => () => {},
  };
  const time = { now: 1_800_000_000_000 };
  const clock: Clock = { ...createSystemClock(), now: () => time.now };
  return { store, time, clock, book: await createTokenBook({ clock, random: systemRandom, store }) };
}
