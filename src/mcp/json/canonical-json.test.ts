import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject } from '../../base/index.ts';
import { canonicalJson } from './canonical-json.ts';

test('keys are sorted at every depth, the order of a list stays', () => {
  expect(canonicalJson({ b: [{ d: 1, c: 2 }, 'x'], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1},"x"]}');
});

test('what JSON cannot say is left out of an object and null in a list', () => {
  expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
});

test('it is the same value, and the same text whatever the order of the keys', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value: unknown = JSON.parse(text);
      const canonical = canonicalJson(value);
      expect(JSON.parse(canonical)).toEqual(value);
      expect(canonicalJson(turned(value))).toBe(canonical);
    }),
  );
});

/** The same value with the keys of each object in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, turned(member)]),
  );
}
