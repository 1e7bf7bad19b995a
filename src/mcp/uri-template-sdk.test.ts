import { UriTemplate as SdkTemplate } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseUriTemplate } from './uri-templates/uri-template.ts';

type Values = Record<string, string>;

function ours(text: string, uri: string): Values | undefined {
  const values = parseUriTemplate(text)?.match(uri);
  return values && Object.fromEntries(values);
}

/** The SDK leaves values encoded. */
function theirs(text: string, uri: string): Values | undefined {
  const values = new SdkTemplate(text).match(uri);
  return values === null
    ? undefined
    : Object.fromEntries(Object.entries(values).map(([name, value]) => [name, decoded(String(value))]));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** One variable each, as servers write them; a query comes last. */
const usual = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('', 'a', '/', 'b/', '.'), fc.constantFrom('', '', '+', '.', '/')), {
      maxLength: 3,
    }),
    fc.constantFrom('', '{?q}', '{?q,r}', '?k=1{&q}'),
  )
  .map(
    ([parts, end]) => `x://${parts.map(([literal, operator], at) => `${literal}{${operator}v${at}}`).join('')}${end}`,
  );

/** What both encode alike: the SDK leaves !'()* as they are. */
const value = fc.string({ unit: fc.constantFrom(...'ab.-~/?#&=;%é 😀'), minLength: 1, maxLength: 6 });

test('the SDK makes the same URIs', () => {
  fc.assert(
    fc.property(usual, value, value, (text, one, two) => {
      const values: Values = { v0: one, v1: two, v2: one, q: two, r: one };
      expect(parseUriTemplate(text)?.expand(new Map(Object.entries(values)))).toBe(
        new SdkTemplate(text).expand(values),
      );
    }),
    { numRuns: 500 },
  );
});

test('templates match with the same values as in the SDK', () => {
  let matched = 0;
  // In `{+a}` they stay as they are, and the SDK's simple values may begin before them.
  const plain = value.filter((text) => !/[?#]/.test(text));
  const made = fc.tuple(usual, plain, plain).map(([text, one, two]) => {
    return [text, new SdkTemplate(text).expand({ v0: one, v1: two, v2: one, q: two, r: one })] as const;
  });
  const free = fc.tuple(
    usual,
    fc.string({ unit: fc.constantFrom(...'ab/.'), maxLength: 8 }).map((rest) => `x://${rest}`),
  );
  fc.assert(
    fc.property(fc.oneof(made, free), ([text, uri]) => {
      const expected = theirs(text, uri);
      if (expected === undefined) return;
      matched++;
      expect(ours(text, uri)).toEqual(expected);
    }),
    { numRuns: 1000 },
  );
  expect(matched).toBeGreaterThan(300);
});

test('where no variable may be missing, what the SDK refuses is refused', () => {
  const text = fc
    .array(fc.tuple(fc.constantFrom('', 'a', '/', 'b/'), fc.constantFrom('', '+')), { maxLength: 3 })
    .map((parts) => parts.map(([literal, operator], at) => `${literal}{${operator}v${at}}`).join(''));
  fc.assert(
    fc.property(text, fc.string({ unit: fc.constantFrom(...'ab/.'), maxLength: 8 }), (template, uri) => {
      expect(ours(template, uri)).toEqual(theirs(template, uri));
    }),
    { numRuns: 500 },
  );
});

test.each<[string, string, string, Values | undefined, Values | undefined]>([
  ['a variable with an operator may be missing', 'x{?a,b}', 'x?b=1', { b: '1' }, undefined],
  ['a query value may be empty', 'x{?a}', 'x?a=', { a: '' }, undefined],
  ['a value may hold a comma', 'x/{a}', 'x/1,2', { a: '1,2' }, undefined],
  ['each variable of a list has its value', 'x/{a,b}', 'x/1,2', { a: '1', b: '2' }, undefined],
  ['so have those of a path', 'x{/a,b}', 'x/1/2', { a: '1', b: '2' }, undefined],
  ['an exploded path goes deep', 'x{/a*}', 'x/1/2', { a: '1/2' }, undefined],
  ['a query is no part of a simple value', 'x/{a}', 'x/1?b=2', undefined, { a: '1?b=2' }],
  ['nor is a fragment', 'x/{a}', 'x/1#b', undefined, { a: '1#b' }],
  ['a fragment is no part of a query', 'x{?a}', 'x?a=1#b', undefined, { a: '1#b' }],
  ['a repeated variable has one value', '{a}/{a}', '1/2', undefined, { a: '2' }],
  ['`;` is an operator', 'x{;a}', 'x;a=1', { a: '1' }, { ';a': ';a=1' }],
  ['the sign of a fragment is no part of its value', 'x{#a}', 'x#1', { a: '1' }, { a: '#1' }],
])('unlike the SDK: %s', (_, text, uri, here, there) => {
  expect(ours(text, uri)).toEqual(here);
  expect(theirs(text, uri)).toEqual(there);
});
