import { expect, test } from 'vitest';
import { compileGlob, compileLinearPattern } from './linear-pattern.ts';

test.each([
  ['docs/*', 'docs/a.md', true],
  ['docs/*', 'docs/a/b.md', false],
  ['docs/**', 'docs/a/b.md', true],
  ['**/*.key', 'a.key', true],
  ['**/*.key', 'x/y/a.key', true],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', false],
  ['a.c', 'abc', false],
  ['[a]', '[a]', true],
  ['[a]', 'a', false],
  ['*', 'a\nb', true],
  ['a*', 'ba', false],
])('glob %s on %j: %s', (glob, text, expected) => {
  expect(compileGlob(glob)?.(text)).toBe(expected);
});

test('an expression outside RE2 is refused, not tried', () => {
  expect(compileLinearPattern('(?=a)b')).toBeUndefined();
  expect(compileLinearPattern('(a)\\1')).toBeUndefined();
  expect(compileLinearPattern('a{1,')?.('a{1,')).toBe(true);
  expect(compileLinearPattern('x'.repeat(1001))).toBeUndefined();
});

test('an expression that is slow elsewhere is not slow here', () => {
  expect(compileLinearPattern('^(a+)+$')?.(`${'a'.repeat(20_000)}b`)).toBe(false);
});
