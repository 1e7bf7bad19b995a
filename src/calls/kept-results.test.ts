import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { KeptResults } from './kept-results.ts';

const hour = 3_600_000;

test('a result is there until its time is over', () => {
  const kept = new KeptResults(10_000);
  kept.keep('a', '{"é":1}', { until: 100, uri: undefined });
  expect(textOf(kept, 'a', 99)).toBe('{"é":1}');
  expect(textOf(kept, 'a', 100)).toBeUndefined();
  expect(kept.bytes).toBe(0);
});

test(verifies('cache:bounded', 'one that would take more than a quarter is not kept, nor is what it replaces'), () => {
  const kept = new KeptResults(8_000);
  kept.keep('a', 'small', { until: hour, uri: undefined });
  kept.keep('a', 'x'.repeat(1_900), { until: hour, uri: undefined });
  expect(textOf(kept, 'a')).toBeUndefined();
  expect(kept.bytes).toBe(0);
});

test('a long URI counts, too', () => {
  const kept = new KeptResults(8_000);
  kept.keep('a', '{}', { until: hour, uri: `memo://${'x'.repeat(1_000)}` });
  expect(textOf(kept, 'a')).toBeUndefined();
});

test(verifies('cache:bounded', 'the one that was used longest ago makes room, not the one that came first'), () => {
  const kept = new KeptResults(4 * 1_512);
  for (const key of 'abcd') kept.keep(key, key.repeat(1_000), { until: hour, uri: undefined });
  textOf(kept, 'a');
  kept.keep('e', 'e'.repeat(1_000), { until: hour, uri: undefined });
  expect([...'abcde'].filter((key) => textOf(kept, key) !== undefined)).toEqual(['a', 'c', 'd', 'e']);
  expect(kept.bytes).toBe(4 * 1_512);
});

test('results of some resources go, and tools stay', () => {
  const kept = new KeptResults(100_000);
  kept.keep('a', '1', { until: hour, uri: 'memo://a' });
  kept.keep('b', '2', { until: hour, uri: 'memo://b' });
  kept.keep('c', '3', { until: hour, uri: undefined });
  kept.forgetUris((uri) => uri.endsWith('a'));
  expect(['a', 'b', 'c'].map((key) => textOf(kept, key))).toEqual([undefined, '2', '3']);
  kept.clear();
  expect([kept.bytes, textOf(kept, 'c')]).toEqual([0, undefined]);
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
      const kept = new KeptResults(maxBytes);
      let lines: readonly Line[] = [];
      let [now, said] = [0, 0];
      for (const each of steps) {
        if (each.does === 'wait') now += each.ms;
        if (each.does === 'forget') {
          kept.forget(each.key);
          lines = without(lines, each.key);
        }
        if (each.does === 'find') {
          const line = lines.find(({ key, until }) => key === each.key && until > now);
          lines = line === undefined ? without(lines, each.key) : [...without(lines, each.key), line];
          expect(textOf(kept, each.key, now)).toBe(line?.text);
        }
        if (each.does === 'keep') {
          const text = `${said++}${'x'.repeat(each.length)}`;
          kept.keep(each.key, text, { until: now + each.until, uri: undefined });
          const others = without(lines, each.key);
          lines = add(others, { ...each, text, until: now + each.until, size: text.length + 512 });
          evicted += others.filter((line) => !lines.includes(line)).length;
        }
        expect(kept.bytes).toBe(sum(lines));
        expect(kept.bytes).toBeLessThanOrEqual(maxBytes);
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

function textOf(kept: KeptResults, key: string, now = 0): string | undefined {
  return kept.find(key, now)?.bytes.toString();
}
