import { expect, test } from 'vitest';
import { afterFailure, type BreakerState, initialBreaker } from './breaker.ts';

test('two failures are met with growing waits, the third opens the circuit for a minute', () => {
  const first = afterFailure(initialBreaker, 0.5);
  const second = afterFailure(first.state, 0.5);
  const third = afterFailure(second.state, 0.5);
  expect([first, second, third]).toEqual([
    { state: { kind: 'closed', failures: 1 }, waitMs: 250 },
    { state: { kind: 'closed', failures: 2 }, waitMs: 750 },
    { state: { kind: 'open', failures: 3 }, waitMs: 60_000 },
  ]);
});

test('a failed trial opens it again', () => {
  let state: BreakerState = initialBreaker;
  for (let failure = 0; failure < 10; failure++) state = afterFailure(state, 0).state;
  expect(afterFailure(state, 0)).toEqual({ state: { kind: 'open', failures: 11 }, waitMs: 60_000 });
});

test('jitter spreads the short waits and leaves the long one alone', () => {
  expect([0, 0.999].map((random) => afterFailure(initialBreaker, random).waitMs)).toEqual([200, 300]);
  const open = { kind: 'open', failures: 3 } as const;
  expect([0, 0.999].map((random) => afterFailure(open, random).waitMs)).toEqual([60_000, 60_000]);
});
