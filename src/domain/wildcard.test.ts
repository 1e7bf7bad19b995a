import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileNameOrPattern, compileWildcard, matchesWildcard } from './wildcard.ts';

/** Few letters, so that patterns and texts meet often; the dot and the bracket would mean something to a RegExp. */
const texts = fc.string({ unit: fc.constantFrom('a', 'b', '.', '['), maxLength: 10 });
const patterns = fc
  .string({ unit: fc.constantFrom('a', 'b', '.', '[', '*'), maxLength: 8 })
  .filter((pattern) => pattern.includes('*'));

test('agrees with the textbook definition', () => {
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      expect(matchesWildcard(compileWildcard(pattern), text)).toBe(textbookMatch(pattern, text));
    }),
    { numRuns: 3000 },
  );
});

test('matches every text that is made from the pattern by filling its stars', () => {
  fc.assert(
    fc.property(patterns, fc.array(texts, { minLength: 9, maxLength: 9 }), (pattern, fillings) => {
      const left = [...fillings];
      const text = pattern.replaceAll('*', () => left.pop() ?? '');
      expect(matchesWildcard(compileWildcard(pattern), text)).toBe(true);
    }),
  );
});

test('prefix and suffix may not share characters', () => {
  expect(matchesWildcard(compileWildcard('ab*ba'), 'aba')).toBe(false);
  expect(matchesWildcard(compileWildcard('ab*ba'), 'abba')).toBe(true);
});

test('answers a pattern that makes backtracking matchers hang', () => {
  const pattern = `${'*a'.repeat(2000)}*b`;
  expect(matchesWildcard(compileWildcard(pattern), 'a'.repeat(50_000))).toBe(false);
});

test('a text without a star is no pattern', () => {
  expect(() => compileWildcard('get')).toThrow('star');
  expect(compileNameOrPattern('get')('get')).toBe(true);
  expect(compileNameOrPattern('get')('get_budget_get')).toBe(false);
  expect(compileNameOrPattern('get*')('get_budget')).toBe(true);
});

function textbookMatch(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern[0] === '*') {
    return textbookMatch(pattern.slice(1), text) || (text !== '' && textbookMatch(pattern, text.slice(1)));
  }
  return text !== '' && pattern[0] === text[0] && textbookMatch(pattern.slice(1), text.slice(1));
}
