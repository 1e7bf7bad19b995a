import { expect, test } from 'vitest';
import { compileFnmatch } from './fnmatch.ts';

test.each([
  ['*', 'a/b\nc', true],
  ['*/test-*', 'me/test-x', true],
  ['*/test-*', 'test-x', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['v[0-9]', 'v7', true],
  ['v[!0-9]', 'v7', false],
  ['v[!0-9]', 'vx', true],
  ['[]]', ']', true],
  ['[!]]', ']', false],
  ['[', '[', true],
  ['[a', '[a', true],
  ['[^a]', '^', true],
  ['[\\]', '\\', true],
  ['a.c', 'abc', false],
  ['(a|b)+', '(a|b)+', true],
])('%s on %j: %s, as in Python', (pattern, text, expected) => {
  expect(compileFnmatch(pattern)?.(text)).toBe(expected);
});
