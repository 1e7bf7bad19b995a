import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileWildcard, matchesWildcard } from '../../../domain/index.ts';
import { createPatternIndex } from './pattern-index.ts';

const texts = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
const patterns = fc
  .string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 6 })
  .filter((pattern) => pattern.includes('*'));

test('finds exactly the patterns that match one by one, each once', () => {
  let most = 0;
  fc.assert(
    fc.property(fc.array(patterns, { maxLength: 30, size: 'max' }), texts, (all, text) => {
      const index = createPatternIndex<number>();
      for (const [order, pattern] of all.entries()) index.add(pattern, order);
      const found: number[] = [];
      index.visit(text, (order) => found.push(order));
      const expected = [...all.keys()].filter((order) => matchesWildcard(compileWildcard(all[order] ?? ''), text));
      most = Math.max(most, expected.length);
      expect(found.sort((a, b) => a - b)).toEqual(expected);
    }),
    { numRuns: 500 },
  );
  expect(most).toBeGreaterThan(5);
});
