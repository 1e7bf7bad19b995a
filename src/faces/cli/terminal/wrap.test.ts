import { expect, test } from 'vitest';
import { hang, wrap } from './wrap.ts';

test('text is broken between words, and a word that is too long stays whole', () => {
  expect(wrap('one two three', 8)).toEqual(['one two', 'three']);
  expect(wrap('see https://example.test/a/long/path now', 10)).toEqual([
    'see',
    'https://example.test/a/long/path',
    'now',
  ]);
  expect(wrap('as long as it likes', undefined)).toEqual(['as long as it likes']);
});

test('other lines stand under the beginning of the first', () => {
  expect(hang('  → ', 'set the token in the header', 22)).toEqual(['  → set the token in', '    the header']);
  // Where hardly any room is left, some is taken all the same.
  expect(hang('  → ', 'set the token in the header', 5)).toEqual(['  → set the token in', '    the header']);
});
