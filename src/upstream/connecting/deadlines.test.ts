import { expect, test } from 'vitest';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { Deadlines, type Timed } from './deadlines.ts';

function stage() {
  const clock = createManualClock();
  return { clock, deadlines: new Deadlines(clock) };
}

function listener(reached: number[]): Timed {
  return { timeOut: (limitMs) => void reached.push(limitMs) };
}

function start(timeoutMs: number, maxMs: number) {
  const { clock, deadlines } = stage();
  const reached: number[] = [];
  return { clock, deadlines, deadline: deadlines.start(listener(reached), timeoutMs, maxMs), reached };
}

test('silence ends a call at the timeout, once', () => {
  const { clock, reached } = start(100, 1000);
  clock.advance(99);
  expect(reached).toEqual([]);
  clock.advance(5000);
  expect(reached).toEqual([100]);
  expect(clock.waiting).toBe(0);
});

test('progress starts the silence anew', () => {
  const { clock, deadline, reached } = start(100, 1000);
  for (let step = 0; step < 9; step++) {
    clock.advance(90);
    deadline.renew();
  }
  expect(reached).toEqual([]);
  clock.advance(99);
  expect(reached).toEqual([]);
  clock.advance(1);
  expect(reached).toEqual([100]);
});

test('no progress moves the cap', () => {
  const { clock, deadline, reached } = start(100, 250);
  for (let at = 0; at < 250; at += 50) {
    expect(reached).toEqual([]);
    deadline.renew();
    clock.advance(50);
  }
  expect(reached).toEqual([250]);
});

test('a cap below the timeout comes first', () => {
  const { clock, reached } = start(100, 40);
  clock.advance(40);
  expect(reached).toEqual([40]);
});

test('an ended request never times out, and its timer ends with the next check', () => {
  const { clock, deadline, reached } = start(100, 1000);
  clock.advance(50);
  deadline.renew();
  clock.advance(60);
  deadline.end();
  deadline.end();
  clock.advance(10_000);
  expect(reached).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test('each call is ended at its own time, whatever the order of their coming', () => {
  const { clock, deadlines } = stage();
  const reached: number[] = [];
  for (const ms of [300, 100, 400, 200, 100]) deadlines.start(listener(reached), ms, 10_000);
  expect(clock.waiting).toBe(1);
  clock.advance(100);
  expect(reached).toEqual([100, 100]);
  clock.advance(100);
  expect(reached).toEqual([100, 100, 200]);
  clock.advance(1000);
  expect(reached).toEqual([100, 100, 200, 300, 400]);
});

test('a thousand calls one after the other set one timer, and one that stays away is still ended in time', () => {
  const { clock, deadlines } = stage();
  const reached: number[] = [];
  for (let call = 0; call < 1000; call++) deadlines.start(listener(reached), 100, 1000).end();
  expect(clock.waiting).toBe(1);
  clock.advance(99);
  deadlines.start(listener(reached), 100, 1000);
  clock.advance(99);
  expect(reached).toEqual([]);
  clock.advance(1);
  expect(reached).toEqual([100]);
});

test('a call that times out may end others and start new ones', () => {
  const { clock, deadlines } = stage();
  const reached: number[] = [];
  const other = deadlines.start(listener(reached), 100, 1000);
  deadlines.start({ timeOut: () => other.end() }, 100, 1000);
  deadlines.start({ timeOut: () => void deadlines.start(listener(reached), 50, 1000) }, 100, 1000);
  clock.advance(100);
  expect(reached).toEqual([]);
  clock.advance(50);
  expect(reached).toEqual([50]);
});

test('renewing costs no timer', () => {
  const { clock, deadline } = start(100, 1_000_000);
  for (let step = 0; step < 1000; step++) deadline.renew();
  expect(clock.waiting).toBe(1);
});

test('a closed connection leaves no timer', () => {
  const { clock, deadlines } = start(100, 1000);
  deadlines.close();
  expect(clock.waiting).toBe(0);
});

test('while a call is paused no time passes for it, neither of its silence nor of its cap', () => {
  const { clock, deadline, reached } = start(100, 150);
  clock.advance(90);
  deadline.pause();
  clock.advance(1_000_000);
  deadline.renew();
  clock.advance(1_000_000);
  expect(reached).toEqual([]);
  deadline.resume();
  clock.advance(59);
  expect(reached).toEqual([]);
  clock.advance(1);
  expect(reached).toEqual([150]);
});

test('a call that is paused twice goes on after both; to resume once more changes nothing', () => {
  const { clock, deadline, reached } = start(100, 10_000);
  deadline.pause();
  deadline.pause();
  clock.advance(500);
  deadline.resume();
  clock.advance(500);
  expect(reached).toEqual([]);
  deadline.resume();
  deadline.resume();
  clock.advance(99);
  expect(reached).toEqual([]);
  clock.advance(1);
  expect(reached).toEqual([100]);
});

test('a paused call that ends, or whose connection is closed, leaves no timer when it is resumed', () => {
  const { clock, deadlines, deadline, reached } = start(100, 1000);
  deadline.pause();
  deadline.end();
  deadline.resume();
  const other = deadlines.start(listener(reached), 100, 1000);
  other.pause();
  deadlines.close();
  other.resume();
  clock.advance(1_000_000);
  expect(reached).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test('one call that is paused does not pause the others', () => {
  const { clock, deadlines, deadline, reached } = start(100, 1000);
  deadlines.start(listener(reached), 200, 1000);
  deadline.pause();
  clock.advance(200);
  expect(reached).toEqual([200]);
});
