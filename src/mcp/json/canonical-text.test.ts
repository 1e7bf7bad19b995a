import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { canonicalText } from './canonical-text.ts';

test('blanks go, keys are sorted at every depth, numbers and strings stay as written', () => {
  const text = ' { "b" : [ 9007199254740993 , 1.0 , -0, 1e2 ] ,\n"a":{ "d":"\\u0041 \\"," , "c":[ ] , "e":{ } } } ';
  expect(canonicalText(text)).toBe('{"a":{"c":[],"d":"\\u0041 \\",","e":{}},"b":[9007199254740993,1.0,-0,1e2]}');
});

test('numbers that parse to the same value are different texts', () => {
  expect(canonicalText('{"id":9007199254740992}')).not.toBe(canonicalText('{"id":9007199254740993}'));
});

test('it is the same value, whatever the blanks and the order of the keys', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(3), (text, blanks) => {
      const value: unknown = JSON.parse(text);
      const canonical = canonicalText(JSON.stringify(value, undefined, blanks));
      expect(JSON.parse(canonical)).toEqual(value);
      expect(canonicalText(canonicalJson(value))).toBe(canonical);
      expect(canonicalText(canonical)).toBe(canonical);
    }),
  );
});

test('text that is not JSON ends with an error', () => {
  for (const text of ['', '{', '[1,', '{"a":', '"a', '{"a"']) expect(() => canonicalText(text)).toThrow(/not JSON/);
});
