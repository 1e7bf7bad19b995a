import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringValues } from './string-values.ts';

interface Found {
  readonly keys: string;
  readonly text: unknown;
}

function found(text: string): Found[] {
  return Array.from(stringValues(text), ({ start, end, keys }) => ({
    keys: keys.join('.'),
    text: JSON.parse(text.slice(start, end)),
  }));
}

/** The same by parsing. */
function parsed(value: unknown, keys: readonly string[] = []): Found[] {
  if (typeof value === 'string') return [{ keys: keys.join('.'), text: value }];
  if (Array.isArray(value)) return value.flatMap((item) => parsed(item, [...keys, '*']));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => parsed(member, [...keys, key]));
}

test('strings of an object are found with their keys', () => {
  const text = '{ "a" : [ "x", {"b":"\\"y\\\\"} , 1, [], {} ], "\\u0063": {"d":["z"]}, "e":"" }';
  expect(found(text)).toEqual([
    { keys: 'a.*', text: 'x' },
    { keys: 'a.*.b', text: '"y\\' },
    { keys: 'c.d.*', text: 'z' },
    { keys: 'e', text: '' },
  ]);
});

test('a key of a star is not taken for an array, and a long key has no name', () => {
  expect(found(`{"*":{"a":"x"},"${'k'.repeat(100)}":"y"}`)).toEqual([
    { keys: '.a', text: 'x' },
    { keys: '', text: 'y' },
  ]);
});

test('members of one object have the same container', () => {
  const text = '{"a":[{"uri":"u","text":"t"},{"text":"s"}]}';
  const [uri, first, second] = [...stringValues(text)].map(({ container }) => container);
  expect([uri, text[uri ?? 0]]).toEqual([first, '{']);
  expect(second).not.toBe(first);
});

test('it finds what parsing finds', () => {
  const keys = fc.constantFrom('a', 'b', 'c d', 'é', '"', '\\');
  const { object } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.string(), fc.double(), fc.boolean(), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(object, fc.constantFrom(undefined, 2), (value, indent) => {
      expect(found(JSON.stringify(value, undefined, indent))).toEqual(parsed(value));
    }),
  );
});
