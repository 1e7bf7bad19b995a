import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WorkspaceLayout } from './layout.ts';
import { acquireLock, withLock } from './lock.ts';
import { identifyThisProcess } from './process-identity.ts';
import { ensureStateFolder } from './state-folder.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

const dead = { pid: 2 ** 22 + 1, startTime: 'x', host: hostname(), nonce: '0123456789abcdef' };

test('gives the result of the work and leaves nothing behind', async () => {
  const layout = await temporaryWorkspace();
  expect(await withLock(layout, 'tokens', async () => 42)).toBe(42);
  await expect(withLock(layout, 'tokens', () => Promise.reject(new Error('work failed')))).rejects.toThrow(
    'work failed',
  );
  expect(await readdir(layout.locks)).toEqual([]);
});

test('one at a time, and names do not hinder each other', async () => {
  const layout = await temporaryWorkspace();
  let inside = 0;
  const work = () =>
    withLock(layout, 'tokens', async () => {
      inside++;
      expect(inside).toBe(1);
      await withLock(layout, 'catalog', async () => undefined);
      inside--;
    });
  await Promise.all([work(), work(), work(), work()]);
  expect(inside).toBe(0);
});

test('says who holds it when waiting does not help', async () => {
  const layout = await temporaryWorkspace();
  const held = await acquireLock(layout, 'tokens');
  await expect(acquireLock(layout, 'tokens', { waitMs: 60 })).rejects.toMatchObject({
    code: 'STATE_LOCKED',
    message: `The state of this workspace (lock "tokens") is in use by process ${process.pid}.`,
    details: { lock: 'tokens', pid: process.pid },
  });
  await held.release();
  await (await acquireLock(layout, 'tokens', { waitMs: 0 })).release();
});

test('waiting can be cancelled', async () => {
  const layout = await temporaryWorkspace();
  const held = await acquireLock(layout, 'tokens');
  const controller = new AbortController();
  const waiting = acquireLock(layout, 'tokens', { signal: controller.signal });
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
  await held.release();
});

test('releasing twice does not take the lock from the next holder', async () => {
  const layout = await temporaryWorkspace();
  const first = await acquireLock(layout, 'tokens');
  await first.release();
  const second = await acquireLock(layout, 'tokens');
  await first.release();
  await expect(acquireLock(layout, 'tokens', { waitMs: 0 })).rejects.toMatchObject({ code: 'STATE_LOCKED' });
  await second.release();
});

test('takes over from a dead owner', async () => {
  const layout = await plant(dead);
  expect(await withLock(layout, 'tokens', () => readdir(layout.locks))).toEqual(['tokens']);
});

test('takes over from an earlier life of its own pid', async () => {
  const me = await identifyThisProcess();
  const layout = await plant({ ...dead, pid: me.pid, startTime: `${me.startTime}0` });
  expect(await withLock(layout, 'tokens', async () => 'done', { waitMs: 0 })).toBe('done');
});

test('takes over from a taker that died in the middle', async () => {
  const layout = await plant(dead);
  const taker = { ...dead, nonce: 'fedcba9876543210' };
  await writeFile(join(layout.locks, `tokens.${dead.nonce}`), JSON.stringify(taker));
  expect(await withLock(layout, 'tokens', async () => 'done')).toBe('done');
  expect(await readdir(layout.locks)).toEqual([]);
});

test('leaves the stale lock to a taker that is at work', async () => {
  const layout = await plant(dead);
  const taker = { ...(await identifyThisProcess()), host: hostname(), nonce: 'fedcba9876543210' };
  await writeFile(join(layout.locks, `tokens.${dead.nonce}`), JSON.stringify(taker));
  await expect(acquireLock(layout, 'tokens', { waitMs: 60 })).rejects.toMatchObject({ code: 'STATE_LOCKED' });
  expect(JSON.parse(await readFile(join(layout.locks, 'tokens'), 'utf8'))).toEqual(dead);
});

test('many takers of one dead lock never get in together', async () => {
  const layout = await plant(dead);
  let inside = 0;
  const order = await Promise.all(
    Array.from({ length: 10 }, () =>
      withLock(layout, 'tokens', async () => {
        const together = ++inside;
        await readdir(layout.locks);
        inside--;
        return together;
      }),
    ),
  );
  expect(order).toEqual(Array.from({ length: 10 }, () => 1));
  expect(await readdir(layout.locks)).toEqual([]);
});

test('never takes over from another machine, and says what to do', async () => {
  const layout = await plant({ ...dead, host: 'far-away' });
  await expect(acquireLock(layout, 'tokens', { waitMs: 0 })).rejects.toMatchObject({
    message: expect.stringContaining(`process ${dead.pid} on far-away`),
    hint: expect.stringContaining(join(layout.locks, 'tokens')),
  });
});

test('a lock without a name is respected while it may be in the making, then taken over', async () => {
  const layout = await plant(undefined);
  await expect(acquireLock(layout, 'tokens', { waitMs: 0 })).rejects.toMatchObject({ code: 'STATE_LOCKED' });
  const longAgo = new Date('2020-01-01');
  await utimes(join(layout.locks, 'tokens'), longAgo, longAgo);
  expect(await withLock(layout, 'tokens', async () => 'done')).toBe('done');
  expect(await readdir(layout.locks)).toEqual([]);
});

async function plant(owner: object | undefined): Promise<WorkspaceLayout> {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  await writeFile(join(layout.locks, 'tokens'), owner === undefined ? '' : JSON.stringify(owner));
  return layout;
}
