import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  anyTree,
  type Choose,
  choices,
  depthOf,
  objectTree,
  spell,
  spellMember,
  type Tree,
} from './json-text.fixture.ts';
import { findMember, ScanFailure, type ScanOptions, scanElements, scanJson } from './scan-json.ts';

const strict: ScanOptions = { maxDepth: 64, rejectRepeatedKeys: true, collectDepth: 2 };

test('every member of the outer object is found, in order, with the exact text of its value', () => {
  fc.assert(
    fc.property(objectTree, choices, (tree, choose) => {
      const parts = tree.entries.map(([key, value]) => ({ key, text: spell(value, choose) }));
      const inside = parts.map(({ key, text }) => spellMember(key, text, choose)).join(',');
      const text = `\n\t{${inside}} \r\n`;
      const { start, end, members } = scanJson(text, strict);
      expect(text.slice(start, end)).toBe(`{${inside}}`);
      expect(members?.map(({ key, start, end }) => ({ key, text: text.slice(start, end) }))).toEqual(parts);
      for (const { key, keyStart, start } of members ?? []) {
        expect(JSON.parse(text.slice(keyStart, text.lastIndexOf(':', start)))).toBe(key);
      }
    }),
  );
});

test('members are collected down to the depth that was asked for, of objects alone', () => {
  const text = '{"a":{"b":{"c":1}},"d":[{"e":1}],"f":"x"}';
  const two = scanJson(text, strict).members;
  expect(findMember(findMember(two, 'a')?.members, 'b')).toMatchObject({ key: 'b', members: undefined });
  expect(findMember(two, 'd')?.members).toBeUndefined();
  expect(findMember(two, 'f')?.members).toBeUndefined();
  expect(findMember(undefined, 'a')).toBeUndefined();
  const one = scanJson(text, { ...strict, collectDepth: 1 }).members;
  expect(findMember(one, 'a')?.members).toBeUndefined();
  expect(scanJson(text, { ...strict, collectDepth: 0 }).members).toBeUndefined();
  expect(scanJson('[]', strict).members).toBeUndefined();
  expect(scanJson('{ }', strict).members).toEqual([]);
});

test('values that are not needed are skipped, strings included', () => {
  fc.assert(
    fc.property(objectTree, choices, (tree, choose) => {
      const text = spell(tree, choose);
      const loose = { maxDepth: 64, rejectRepeatedKeys: false, collectDepth: 1 };
      const outer = scanJson(text, strict).members?.map(({ key, start, end }) => ({ key, start, end }));
      expect(scanJson(text, loose).members?.map(({ key, start, end }) => ({ key, start, end }))).toEqual(outer);
      expect(scanJson(text, { ...loose, collectDepth: 0 })).toMatchObject({
        start: 0,
        end: text.length,
        members: undefined,
      });
    }),
  );
});

test('the elements of an array are found with their exact text', () => {
  fc.assert(
    fc.property(fc.array(anyTree, { maxLength: 6 }), choices, (items, choose) => {
      const texts = items.map((item) => spell(item, choose));
      const text = ` [${texts.map((part) => ` ${part}\n`).join(',')}]`;
      expect(scanElements(text, 1, 100).map(({ start, end }) => text.slice(start, end))).toEqual(texts);
    }),
  );
});

test('of a long array only the first elements are looked at', () => {
  expect(scanElements('[1,[2],{"a":3},4]', 0, 2)).toEqual([
    { start: 1, end: 2 },
    { start: 3, end: 6 },
  ]);
  expect(scanElements('[1]', 0, 0)).toEqual([]);
});

test('members of an object that reports them are bounded, and keys in all objects', () => {
  const loose = { maxDepth: 64, rejectRepeatedKeys: false, collectDepth: 1, maxMembers: 3 };
  expect(failureOf('{"a":1,"b":2,"c":{"d":1,"e":1,"f":1,"g":1}}', loose)).toBeUndefined();
  expect(failureOf('{"a":1,"b":2,"c":3,"d":4}', loose)).toBe('members');
  expect(failureOf('[{"a":1},{"a":1},{"b":1}]', { ...strict, maxKeys: 3 })).toBeUndefined();
  expect(failureOf('[{"a":1},{"a":1},{"b":1,"c":{}}]', { ...strict, maxKeys: 3 })).toBe('keys');
});

test('commas and colons outside of strings are counted', () => {
  const parts = (text: string): number =>
    scanJson(text, { ...strict, rejectRepeatedKeys: false, collectDepth: 1 }).parts;
  expect(parts('{"a":[1,2,",:",{"b":[]}]}')).toBe(4);
  expect(scanJson('[1,2]', strict).parts).toBe(1);
});

test('a key that appears twice is found at any depth and in any spelling', () => {
  let amongMany = 0;
  fc.assert(
    fc.property(objectTree, anyTree, choices, fc.nat(), (tree, value, choose, place) => {
      fc.pre(tree.entries.length > 0);
      const [key] = tree.entries[place % tree.entries.length] ?? ['', tree]; // not empty, see above
      const inside = tree.entries.map(([name, node]) => spellMember(name, spell(node, choose), choose));
      inside.splice(place % (inside.length + 1), 0, spellMember(key, spell(value, choose), choose));
      const text = wrapped(`{${inside.join(',')}}`, choose);
      if (tree.entries.length > 17) amongMany++;
      expect(failureOf(text)).toBe('repeated-key');
      expect(failureOf(text, { ...strict, rejectRepeatedKeys: false })).toBeUndefined();
      expect(JSON.parse(text)).toBeDefined();
    }),
  );
  // Where keys are many, they are kept in another way.
  expect(amongMany).toBeGreaterThan(0);
});

test.each([
  ['{"a":1,"\\u0061":2}', 'an escape spells the same key'],
  ['{"\\u00e9":1,"é":2}', 'an escape of a letter beyond ASCII too'],
  ['{"\\/":1,"/":2}', 'an escaped solidus is a solidus'],
  ['{"__proto__":1,"__proto__":2}', 'a key with a meaning elsewhere'],
  ['{"":1,"":2}', 'the empty key'],
  [`{${Array.from({ length: 40 }, (_, index) => `"k${index}":0`).join(',')},"k3":1}`, 'among many keys'],
  ['{"a":[[{"b":{"c":1,"d":2,"c":3}}]]}', 'deep inside'],
])('repeated key: %s (%s)', (text) => {
  expect(failureOf(text)).toBe('repeated-key');
});

test('the same key in two objects is no repetition', () => {
  expect(failureOf('{"a":{"a":{"a":[{"a":1},{"a":2}]}},"b":{"a":1}}')).toBeUndefined();
  expect(failureOf('{"constructor":1,"toString":2,"__proto__":3,"hasOwnProperty":4}')).toBeUndefined();
});

test('nesting is bounded exactly, in arrays, in objects and mixed', () => {
  fc.assert(
    fc.property(anyTree, choices, fc.integer({ min: 1, max: 8 }), (tree, choose, maxDepth) => {
      const text = spell(tree, choose);
      const expected = depthOf(tree) > maxDepth ? 'depth' : undefined;
      expect(failureOf(text, { ...strict, maxDepth })).toBe(expected);
      expect(failureOf(text, { maxDepth, rejectRepeatedKeys: false, collectDepth: 0 })).toBe(expected);
    }),
  );
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  expect(failureOf(nested(64))).toBeUndefined();
  expect(failureOf(nested(65))).toBe('depth');
});

test('a document that is cut off anywhere is refused', () => {
  fc.assert(
    fc.property(objectTree, choices, fc.nat(), (tree, choose, cut) => {
      const text = spell(tree, choose);
      const part = text.slice(0, cut % text.length);
      expect(failureOf(part)).toBe('syntax');
      expect(failureOf(part, { maxDepth: 64, rejectRepeatedKeys: false, collectDepth: 0 })).toBe('syntax');
    }),
  );
});

test.each([
  '',
  ' ',
  '}',
  '{]',
  '[}',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{,}',
  '[,]',
  '[1,]',
  '[1 2]',
  '{"a" 1}',
  '{a:1}',
  '1 2',
  '{}{}',
  '"',
  '"\\"',
  '{"\\x":1}',
  "{'a':1}",
])('refused as syntax: %s', (text) => {
  expect(failureOf(text)).toBe('syntax');
});

// A scanner that looked at a character more than a few times would not end within the time of a test.
test.each([
  ['backslashes', `"${'\\\\'.repeat(2_000_000)}"`],
  ['escaped quotes', `"${'\\"'.repeat(2_000_000)}"`],
  ['long runs of backslashes before escaped quotes', `"${`${'\\'.repeat(1001)}"`.repeat(2000)}"`],
  ['a key of backslashes', `{"${'\\\\'.repeat(1_000_000)}":1}`],
  ['keys', `{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":0`).join(',')}}`],
  ['keys with escapes', `{${Array.from({ length: 100_000 }, (_, index) => `"\\u006b${index}":0`).join(',')}}`],
  ['blanks', `${' '.repeat(4_000_000)}1`],
  ['empty objects', `[${'{},'.repeat(500_000)}{}]`],
])('millions of %s are read in one go', (_, text) => {
  const { start, end } = scanJson(text, strict);
  expect(text.slice(start, end)).toBe(text.trim());
});

test.each([
  ['brackets', '['.repeat(4_000_000), 'depth'],
  ['braces', '{"a":'.repeat(800_000), 'depth'],
  ['backslashes without an end', `"${'\\'.repeat(4_000_000)}`, 'syntax'],
  ['quotes that are all escaped', `"${'\\"'.repeat(2_000_000)}`, 'syntax'],
])('megabytes of %s are refused', (_, text, reason) => {
  expect(failureOf(text)).toBe(reason);
});

function failureOf(text: string, options: ScanOptions = strict): ScanFailure['reason'] | undefined {
  try {
    scanJson(text, options);
    return undefined;
  } catch (error) {
    if (error instanceof ScanFailure) return error.reason;
    throw error;
  }
}

/** Somewhere inside other values. */
function wrapped(text: string, choose: Choose): string {
  let result = text;
  for (let level = choose(6); level > 0; level--) {
    const filler: Tree = { kind: 'string', value: '"}]' };
    result = choose(2) === 0 ? `[${spell(filler, choose)},${result}]` : `{${spellMember('x', result, choose)}}`;
  }
  return result;
}
