import { expect, test } from 'vitest';
import { hang, wrap, wrapLine } from './wrap.ts';

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

test('a command in backticks stays whole, colours take no room, and a lone backtick means nothing', () => {
  expect(wrap('run `qm ls --json` now', 12)).toEqual(['run', '`qm ls --json`', 'now']);
  expect(wrap('\u001b[31mred\u001b[39m and blue', 8)).toEqual(['\u001b[31mred\u001b[39m and', 'blue']);
  expect(wrap('a ` b c d', 4)).toEqual(['a `', 'b c', 'd']);
  expect(wrapLine('    indented text here', 20)).toEqual(['    indented text', '    here']);
});
