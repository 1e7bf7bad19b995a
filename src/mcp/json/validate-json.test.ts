import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyTree, choices, spell } from './json-text.fixture.ts';
import { validateJson } from './validate-json.ts';

function isValid(text: string): boolean {
  try {
    validateJson(text, 64);
    return true;
  } catch {
    return false;
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('every JSON text is accepted, however it is spelled', () => {
  fc.assert(
    fc.property(anyTree, choices, (tree, choose) => {
      expect(isValid(` ${spell(tree, choose)}\n`)).toBe(true);
    }),
  );
});

test('a text with one character changed, added or removed is valid exactly when JSON.parse takes it', () => {
  const strange = fc.constantFrom(...'{}[],:"\\/ubnx019.-+eEtruefalsn \t\n\r\0\u001f\u007f\u2028é');
  let refused = 0;
  fc.assert(
    fc.property(anyTree, choices, fc.nat(), strange, fc.nat(2), (tree, choose, place, character, cut) => {
      const text = spell(tree, choose);
      const at = place % (text.length + 1);
      const changed = `${text.slice(0, at)}${cut === 2 ? '' : character}${text.slice(cut === 0 ? at : at + 1)}`;
      if (!parses(changed)) refused++;
      expect([changed, isValid(changed)]).toEqual([changed, parses(changed)]);
    }),
    { numRuns: 2000 },
  );
  expect(refused).toBeGreaterThan(200);
});

test.each([
  '',
  ' ',
  '01',
  '-',
  '1.',
  '.5',
  '1e',
  '1e+',
  '+1',
  'NaN',
  'Infinity',
  'tru',
  'nullx',
  'undefined',
  '"\\x"',
  '"\\u12g4"',
  '"\\u123"',
  '"\\',
  '"a\nb"',
  '"a\u0000b"',
  '"a\tb"',
  '[1,]',
  '[,1]',
  '{"a":1,}',
  '{a:1}',
  '{"a"}',
  '[1 2]',
  '[1}',
  '{"a":1]',
  '1 2',
  '[]]',
  '\ufeff1',
  '\u00a01',
])('refused: %j', (text) => {
  expect([isValid(text), parses(text)]).toEqual([false, false]);
});

test('text after a long plain run is checked too', () => {
  const long = 'é'.repeat(10_000);
  for (const [text, valid] of [
    [`"${long}"`, true],
    [`"${long}\\n${long}\\u00e9${long}"`, true],
    [`"${long}\\q${long}"`, false],
    [`"${long}\n${long}"`, false],
    [`"${long}`, false],
  ] as const) {
    expect([isValid(text), parses(text)]).toEqual([valid, valid]);
  }
});

test('depth is bounded by the limit and not by the stack', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  expect(isValid(nested(64))).toBe(true);
  expect(() => validateJson(nested(65), 64)).toThrow('nested deeper than 64 levels');
  expect(() => validateJson('['.repeat(1_000_000), 64)).toThrow('nested deeper');
  expect(() => validateJson(nested(500_000), 500_000)).not.toThrow();
});
