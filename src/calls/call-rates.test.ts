import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { type AgentAccount, createAgentAccounts } from '../base/index.ts';
import { createManualClock } from '../base/manual-clock.fixture.ts';
import { type CallRates, createCallRates } from './call-rates.ts';

function takeMany(rates: CallRates, count: number, perMinute: number): number[] {
  return Array.from({ length: count }, () => rates.take('files', perMinute));
}

test('a minute has as many calls as the limit says, at once or one by one', () => {
  const clock = createManualClock();
  const rates = createCallRates({ clock });
  expect(takeMany(rates, 5, 3)).toEqual([0, 0, 0, 60_000, 60_000]);
  clock.advance(59_999);
  expect(rates.take('files', 3)).toBe(1);
  clock.advance(1);
  expect(takeMany(rates, 4, 3)).toEqual([0, 0, 0, 60_000]);
});

test(verifies('limits:rate', 'no minute sees more calls than the limit, and no call is refused without need'), () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 60, size: 'max' });
  let refusedAgain = 0;
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), gaps, (perMinute, waits) => {
      const clock = createManualClock();
      const rates = createCallRates({ clock });
      const taken: number[] = [];
      for (const gap of waits) {
        clock.advance(gap);
        const now = clock.monotonic();
        const inLastMinute = taken.filter((at) => now - at < 60_000);
        const waitMs = rates.take('files', perMinute);
        if (waitMs === 0) {
          expect(inLastMinute.length).toBeLessThan(perMinute);
          taken.push(now);
        } else {
          if (taken.length > perMinute) refusedAgain++;
          expect(inLastMinute).toHaveLength(perMinute);
          // A place is free exactly when the oldest of them is a minute old.
          expect(now + waitMs).toBe((inLastMinute[0] ?? 0) + 60_000);
        }
      }
    }),
    { numRuns: 200 },
  );
  // Refused, let in again, and refused once more.
  expect(refusedAgain).toBeGreaterThan(0);
});

test(verifies('limits:fair', 'an agent that calls all the time leaves a share of the minute to others'), () => {
  const clock = createManualClock();
  const accounts = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 });
  const rates = createCallRates({ clock });
  const [busy, other] = [accounts.of('busy'), accounts.of('other')];
  const take = (account: AgentAccount): number => rates.take('files', 60, account);
  const counts = { busy: 0, other: 0 };
  for (let second = 0; second < 180; second++) {
    for (let attempt = 0; attempt < 10; attempt++) if (take(busy) === 0) counts.busy++;
    if (second % 3 === 0) {
      expect(take(other)).toBe(0);
      counts.other++;
    }
    clock.advance(1000);
  }
  expect(counts).toEqual({ busy: 90, other: 60 });
  // All 30 of a minute were made in its first second. The next minute begins with this one.
  expect([take(busy), take(busy)]).toEqual([0, 0]);
});

test('an agent over its share is told when the first of its own calls is a minute old', () => {
  const clock = createManualClock();
  const accounts = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 });
  const rates = createCallRates({ clock });
  const [one, other] = [accounts.of('one'), accounts.of('other')];
  expect(rates.take('files', 4, other)).toBe(0);
  clock.advance(10_000);
  expect([1, 2, 3].map(() => rates.take('files', 4, one))).toEqual([0, 0, 60_000]);
  clock.advance(40_000);
  expect(rates.take('files', 4, one)).toBe(20_000);
  clock.advance(10_000);
  // The other's call is forgotten, and this agent calls alone.
  expect([1, 2, 3].map(() => rates.take('files', 4, one))).toEqual([0, 0, 10_000]);
});

test('an agent that comes late gets its share as the calls of the first grow old', () => {
  const clock = createManualClock();
  const accounts = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 });
  const rates = createCallRates({ clock });
  const [busy, late] = [accounts.of('busy'), accounts.of('late')];
  const take = (account: AgentAccount): number => rates.take('files', 6, account);
  // Alone it has the whole minute, one call every ten seconds.
  for (let count = 0; count < 6; count++) {
    expect(take(busy)).toBe(0);
    clock.advance(10_000);
  }
  clock.advance(-1);
  expect([take(late), take(busy)]).toEqual([1, 1]);
  clock.advance(1);
  const counts = { busy: 0, late: 0 };
  for (let second = 0; second < 60; second++) {
    if (take(busy) === 0) counts.busy++;
    if (take(late) === 0) counts.late++;
    clock.advance(1000);
  }
  expect(counts).toEqual({ busy: 3, late: 3 });
});

test('an agent that has nobody to share with gets the whole minute', () => {
  const accounts = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 });
  const rates = createCallRates({ clock: createManualClock() });
  const one = accounts.of('one');
  expect(Array.from({ length: 7 }, () => rates.take('files', 6, one))).toEqual([0, 0, 0, 0, 0, 0, 60_000]);
});

test('each server has its own minute; a changed limit starts a new one', () => {
  const clock = createManualClock();
  const rates = createCallRates({ clock });
  expect(rates.take('files', 1)).toBe(0);
  expect(rates.take('git', 1)).toBe(0);
  expect(rates.take('files', 1)).toBe(60_000);
  expect(rates.take('files', 2)).toBe(0);
});

test('a limit below one call is one call in a longer time', () => {
  const clock = createManualClock();
  const rates = createCallRates({ clock });
  expect(takeMany(rates, 2, 0.5)).toEqual([0, 120_000]);
  expect(rates.take('slow', 0.000_001)).toBe(0);
  expect(rates.take('slow', 0.000_001)).toBe(86_400_000);
  expect(takeMany(createCallRates({ clock: createManualClock() }), 2, 1.9)).toEqual([0, 60_000]);
});
