import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compactJson } from './compact-json.ts';

test('white space goes between the parts and stays inside strings', () => {
  expect(compactJson(' {\r\n\t"a b" : "x \\" y" ,\n "n": [ 12345678901234567890 , 1.0e+5 ] } ')).toBe(
    '{"a b":"x \\" y","n":[12345678901234567890,1.0e+5]}',
  );
  expect(compactJson('{"a":"\\\\"}')).toBe('{"a":"\\\\"}');
  expect(compactJson('{"a":"\\\\" , "b":"\\\\\\" "}')).toBe('{"a":"\\\\","b":"\\\\\\" "}');
});

test('property: an indented document becomes the compact one, a compact one is left alone', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 1, 3, '\t'), (value, indent) => {
      const compact = JSON.stringify(value);
      expect(compactJson(JSON.stringify(value, null, indent))).toBe(compact);
      expect(compactJson(compact)).toBe(compact);
    }),
  );
});
