import { expect, test } from 'vitest';
import { Latency } from './latency.ts';

test('no call, one call and a few calls are told exactly', () => {
  expect(summaryOf([])).toEqual({ count: 0, mean: 0, p50: 0, p95: 0, p99: 0, max: 0 });
  expect(summaryOf([0])).toEqual({ count: 1, mean: 0, p50: 0, p95: 0, p99: 0, max: 0 });
  expect(summaryOf([4.1234])).toEqual({ count: 1, mean: 4.123, p50: 4.123, p95: 4.123, p99: 4.123, max: 4.123 });
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(summaryOf(hundred)).toEqual({ count: 100, mean: 50.5, p50: 50, p95: 95, p99: 99, max: 100 });
});

test.each([
  ['steady', (index: number) => 10 + (index % 7)],
  ['long tail', (index: number) => 0.05 * 1.0001 ** index + (index % 100 === 0 ? 5000 : 0)],
  ['from nothing to hours', (index: number) => (index % 10 === 0 ? 0 : index ** 1.4)],
])('past a thousand calls a percentile is off by one percent at most: %s', (_name, durationOf) => {
  const durations = Array.from({ length: 100_000 }, (_, index) => durationOf(index));
  const sorted = durations.toSorted((a, b) => a - b);
  const summary = summaryOf(durations);
  for (const [name, share] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
    expect(Math.abs(summary[name] - exact)).toBeLessThanOrEqual(exact * 0.01 + 0.001);
  }
  expect(summary.count).toBe(100_000);
  expect(summary.max).toBeCloseTo(sorted.at(-1) ?? 0, 2);
  expect(summary.mean).toBeCloseTo(durations.reduce((sum, each) => sum + each, 0) / 100_000, 2);
});

test('values past the last bucket stay in it, and the greatest is exact', () => {
  const latency = new Latency();
  for (let count = 0; count < 2000; count++) latency.add(5e12);
  expect(latency.summary()).toMatchObject({ count: 2000, max: 5e12, mean: 5e12 });
});

function summaryOf(durations: readonly number[]) {
  const latency = new Latency();
  for (const ms of durations) latency.add(ms);
  return latency.summary();
}
