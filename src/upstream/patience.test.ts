import { expect, test } from 'vitest';
import { createManualClock } from '../base/manual-clock.fixture.ts';
import { createPatience } from './patience.ts';

function start(timeoutMs: number, maxMs: number) {
  const clock = createManualClock();
  const reached: number[] = [];
  const patience = createPatience(clock, timeoutMs, maxMs, (limitMs) => reached.push(limitMs));
  return { clock, patience, reached };
}

test('silence ends it at the timeout, once', () => {
  const { clock, reached } = start(100, 1000);
  clock.advance(99);
  expect(reached).toEqual([]);
  clock.advance(5000);
  expect(reached).toEqual([100]);
  expect(clock.waiting).toBe(0);
});

test('progress starts the silence anew', () => {
  const { clock, patience, reached } = start(100, 1000);
  for (let step = 0; step < 9; step++) {
    clock.advance(90);
    patience.renew();
  }
  expect(reached).toEqual([]);
  clock.advance(99);
  expect(reached).toEqual([]);
  clock.advance(1);
  expect(reached).toEqual([100]);
});

test('no progress moves the cap', () => {
  const { clock, patience, reached } = start(100, 250);
  for (let at = 0; at < 250; at += 50) {
    expect(reached).toEqual([]);
    patience.renew();
    clock.advance(50);
  }
  expect(reached).toEqual([250]);
});

test('a cap below the timeout comes first', () => {
  const { clock, reached } = start(100, 40);
  clock.advance(40);
  expect(reached).toEqual([40]);
});

test('what has ended never times out and leaves no timer', () => {
  const { clock, patience, reached } = start(100, 1000);
  clock.advance(50);
  patience.renew();
  clock.advance(60);
  patience.end();
  clock.advance(10_000);
  expect(reached).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test('renewing costs no timer', () => {
  const { clock, patience } = start(100, 1_000_000);
  for (let step = 0; step < 1000; step++) patience.renew();
  expect(clock.waiting).toBe(1);
});
