import { expect, test } from 'vitest';
import { compileGlob, compileLinearPattern, compileLinearReplacement } from './linear-pattern.ts';

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

test.each([
  ['a+', 'caat', 'c#t'],
  ['a', 'aa$1', '##$1'],
  ['\\b', 'ab cd', 'ab cd'],
  ['x|\\b', 'ab x', 'ab #'],
  ['b', 'aaa', 'aaa'],
])('what %s matches in %j is replaced', (expression, text, expected) => {
  expect(compileLinearReplacement(expression, '#')?.(text, () => {})).toBe(expected);
});

test('each search is charged with the rest of the text', () => {
  const spent: number[] = [];
  compileLinearReplacement('key(.*;)?', '#')?.('key key key', (characters) => spent.push(characters));
  expect(spent).toEqual([11, 8, 4, 0]);
});

test('a replacement of nothing is refused', () => {
  expect(compileLinearReplacement('a*', '#')).toBeUndefined();
  expect(compileLinearReplacement('(?=a)', '#')).toBeUndefined();
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
