import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { type CallRates, createCallRates } from './call-rates.ts';

// The package takes time from the machine.
beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function takeMany(rates: CallRates, count: number, perMinute: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => rates.take('files', perMinute)));
}

test('a minute has as many calls as the limit says, at once or one by one', async () => {
  const rates = createCallRates();
  expect(await takeMany(rates, 5, 3)).toEqual([0, 0, 0, 60_000, 60_000]);
  vi.advanceTimersByTime(59_999);
  expect(await rates.take('files', 3)).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await takeMany(rates, 4, 3)).toEqual([0, 0, 0, 60_000]);
});

test(
  verifies('limits:rate', 'no minute sees more calls than the limit, and no call is refused without need'),
  async () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 60, size: 'max' });
    let refusedAgain = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), gaps, async (perMinute, waits) => {
        const rates = createCallRates();
        const taken: number[] = [];
        for (const gap of waits) {
          vi.advanceTimersByTime(gap);
          const now = Date.now();
          const inLastMinute = taken.filter((at) => now - at < 60_000);
          const waitMs = await rates.take('files', perMinute);
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
  },
);

test('each server has its own minute; a changed limit starts a new one', async () => {
  const rates = createCallRates();
  expect(await rates.take('files', 1)).toBe(0);
  expect(await rates.take('git', 1)).toBe(0);
  expect(await rates.take('files', 1)).toBe(60_000);
  expect(await rates.take('files', 2)).toBe(0);
});

test('a limit below one call is one call in a longer time', async () => {
  const rates = createCallRates();
  expect(await takeMany(rates, 2, 0.5)).toEqual([0, 120_000]);
  expect(await rates.take('slow', 0.000_001)).toBe(0);
  expect(await rates.take('slow', 0.000_001)).toBe(86_400_000);
  expect(await takeMany(createCallRates(), 2, 1.9)).toEqual([0, 60_000]);
});
