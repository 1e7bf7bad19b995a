import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { CachedResults } from './cached-results.ts';

const hour = 3_600_000;

test('a result is there until its time is over', () => {
  const cached = new CachedResults(10_000);
  cached.keep('a', '{"é":1}', { until: 100, uri: undefined });
  expect(textOf(cached, 'a', 99)).toBe('{"é":1}');
  expect(textOf(cached, 'a', 100)).toBeUndefined();
  expect(cached.bytes).toBe(0);
});

test(verifies('cache:bounded', 'one that would take more than a quarter is not kept, nor is what it replaces'), () => {
  const cached = new CachedResults(8_000);
  cached.keep('a', 'small', { until: hour, uri: undefined });
  cached.keep('a', 'x'.repeat(1_900), { until: hour, uri: undefined });
  expect(textOf(cached, 'a')).toBeUndefined();
  expect(cached.bytes).toBe(0);
});

test('a long URI counts, too', () => {
  const cached = new CachedResults(8_000);
  cached.keep('a', '{}', { until: hour, uri: `memo://${'x'.repeat(1_000)}` });
  expect(textOf(cached, 'a')).toBeUndefined();
});

test(verifies('cache:bounded', 'the one that was used longest ago makes room, not the one that came first'), () => {
  const cached = new CachedResults(4 * 1_512);
  for (const key of 'abcd') cached.keep(key, key.repeat(1_000), { until: hour, uri: undefined });
  textOf(cached, 'a');
  cached.keep('e', 'e'.repeat(1_000), { until: hour, uri: undefined });
  expect([...'abcde'].filter((key) => textOf(cached, key) !== undefined)).toEqual(['a', 'c', 'd', 'e']);
  expect(cached.bytes).toBe(4 * 1_512);
});

test('results of some resources go, and tools stay', () => {
  const cached = new CachedResults(100_000);
  cached.keep('a', '1', { until: hour, uri: 'memo://a' });
  cached.keep('b', '2', { until: hour, uri: 'memo://b' });
  cached.keep('c', '3', { until: hour, uri: undefined });
  cached.forgetUris((uri) => uri.endsWith('a'));
  expect(['a', 'b', 'c'].map((key) => textOf(cached, key))).toEqual([undefined, '2', '3']);
  cached.clear();
  expect([cached.bytes, textOf(cached, 'c')]).toEqual([0, undefined]);
});

const step = fc.oneof(
  fc.record({
    does: fc.constant('keep' as const),
    key: fc.constantFrom(...'abcdefgh'),
    length: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 500, max: 1_700 }) },
      fc.integer({ min: 0, max: 3_000 }),
    ),
    until: fc.oneof({ weight: 3, arbitrary: fc.constant(hour) }, fc.integer({ min: 0, max: 100 })),
  }),
  fc.record({ does: fc.constant('find' as const), key: fc.constantFrom(...'abcdefgh') }),
  fc.record({ does: fc.constant('forget' as const), key: fc.constantFrom(...'abcdefgh') }),
  fc.record({ does: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 40 }) }),
);

/** What a plain list would do: the last is the one that was used last. */
interface Line {
  readonly key: string;
  readonly text: string;
  readonly until: number;
  readonly size: number;
}

const maxBytes = 9_000;

test(verifies('cache:bounded', 'whatever is kept, the bytes hold and the least used has gone'), () => {
  let evicted = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const cached = new CachedResults(maxBytes);
      let lines: readonly Line[] = [];
      let [now, said] = [0, 0];
      for (const each of steps) {
        if (each.does === 'wait') now += each.ms;
        if (each.does === 'forget') {
          cached.forget(each.key);
          lines = without(lines, each.key);
        }
        if (each.does === 'find') {
          const line = lines.find(({ key, until }) => key === each.key && until > now);
          lines = line === undefined ? without(lines, each.key) : [...without(lines, each.key), line];
          expect(textOf(cached, each.key, now)).toBe(line?.text);
        }
        if (each.does === 'keep') {
          const text = `${said++}${'x'.repeat(each.length)}`;
          cached.keep(each.key, text, { until: now + each.until, uri: undefined });
          const others = without(lines, each.key);
          lines = add(others, { ...each, text, until: now + each.until, size: text.length + 512 });
          evicted += others.filter((line) => !lines.includes(line)).length;
        }
        expect(cached.bytes).toBe(sum(lines));
        expect(cached.bytes).toBeLessThanOrEqual(maxBytes);
      }
    }),
  );
  // Without these the property would hold of a cache without a bound.
  expect(evicted).toBeGreaterThan(0);
});

function add(lines: readonly Line[], line: Line): readonly Line[] {
  if (line.size > maxBytes / 4) return lines;
  const first = lines.findIndex((_, at) => sum(lines.slice(at)) + line.size <= maxBytes);
  return [...(first < 0 ? [] : lines.slice(first)), line];
}

function without(lines: readonly Line[], key: string): readonly Line[] {
  return lines.filter((line) => line.key !== key);
}

function sum(lines: readonly Line[]): number {
  return lines.reduce((bytes, { size }) => bytes + size, 0);
}

function textOf(cached: CachedResults, key: string, now = 0): string | undefined {
  return cached.find(key, now)?.bytes.toString();
}
