import { spawn } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSystemClock, readProcess } from '../../base/index.ts';
import { type CookieOwner, formatCookie } from './cookie.ts';
import { isAlive, until } from './fixtures/processes.mjs';
import { signalGroup } from './group.ts';
import { listProcesses } from './process-table.ts';
import { endMarked, endStale } from './sweep.ts';

const clock = createSystemClock();
/** No real pid namespace has this number, so that hubs elsewhere on the machine leave these processes alone. */
const namespace = '1';
const self: CookieOwner = {
  boot: 'self',
  pid: process.pid,
  start: readProcess(process.pid)?.start ?? 0,
  namespace,
};
let started: number[] = [];

afterEach(() => {
  for (const group of started) signalGroup(group, 'SIGKILL');
  started = [];
});

test(verifies('children:sweep', 'ends by cookie, and nothing else'), async () => {
  const marked = await startWith('mine:1:2:3:4');
  const others = [await startWith('mine2:1:2:3:4'), await startWith(undefined)];
  const result = await endMarked(clock, (cookie) => cookie.startsWith('mine:'));
  expect(result).toEqual({ ended: 1, clean: true });
  expect(isAlive(marked)).toBe(false);
  expect(others.filter(isAlive)).toEqual(others);
});

test('does not look at processes older than the child', async () => {
  const older = await startWith('older:1:2:3:4');
  const since = (readProcess(older)?.start ?? 0) + 1;
  expect(await endMarked(clock, (cookie) => cookie.startsWith('older:'), { since })).toEqual({ ended: 0, clean: true });
  expect(isAlive(older)).toBe(true);
});

test(verifies('children:stale', 'stale: ends those of a dead hub, even where its pid lives again'), async () => {
  const dead = await startWith(undefined);
  process.kill(dead, 'SIGKILL');
  await until(() => readProcess(dead) === undefined, 'the owner is gone');
  const ofDead = await startWith(formatCookie({ ...self, boot: 'gone', pid: dead }, 1));
  const ofReused = await startWith(formatCookie({ ...self, boot: 'reused', start: self.start - 1 }, 1));
  await endStale(clock, self);
  expect([ofDead, ofReused].filter(isAlive)).toEqual([]);
});

test(
  verifies('children:stale', 'stale: spares those of a live hub, of another pid namespace, and what is no cookie'),
  async () => {
    const spared = [
      await startWith(formatCookie(self, 1)),
      await startWith(formatCookie({ ...self, start: 1, namespace: '2' }, 1)),
      await startWith('not a cookie'),
      await startWith(undefined),
    ];
    await endStale(clock, self);
    expect(spared.filter(isAlive)).toEqual(spared);
  },
);

test('stale: spares whoever runs the hub', async () => {
  const runner = await startWith(
    formatCookie({ ...self, boot: 'runner', start: self.start - 1 }, 1),
    'sleep 60 & wait',
  );
  const child = await until(() => childOf(runner), 'it has a child');
  // The hub itself is that child, seen from here.
  await endStale(clock, { ...self, pid: child ?? 0 });
  expect(isAlive(runner)).toBe(true);
});

async function childOf(pid: number): Promise<number | undefined> {
  return (await listProcesses()).find((row) => row.parent === pid)?.pid;
}

async function startWith(cookie: string | undefined, script = 'exec sleep 60'): Promise<number> {
  const env = { PATH: '/usr/bin:/bin', ...(cookie === undefined ? {} : { QUARTERMASTER_CHILD: cookie }) };
  const { pid } = spawn('/bin/sh', ['-c', script], { env, detached: true, stdio: 'ignore' });
  if (pid === undefined) throw new Error('not started');
  started.push(pid);
  return pid;
}
