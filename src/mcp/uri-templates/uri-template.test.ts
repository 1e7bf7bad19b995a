import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWorkBudget } from '../../base/index.ts';
import { parseUriTemplate, type UriTemplate } from './uri-template.ts';

function parse(text: string): UriTemplate {
  const template = parseUriTemplate(text);
  if (template === undefined) throw new Error(`no template: ${text}`);
  return template;
}

/** The examples of RFC 6570, section 3.2, whose values are strings. */
const rfcValues = new Map(
  Object.entries({
    base: 'http://example.com/home/',
    dub: 'me/too',
    empty: '',
    half: '50%',
    hello: 'Hello World!',
    path: '/foo/bar',
    v: '6',
    var: 'value',
    who: 'fred',
    x: '1024',
    y: '768',
  }),
);

test.each([
  ['{var}', 'value'],
  ['{hello}', 'Hello%20World%21'],
  ['{half}', '50%25'],
  ['O{empty}X', 'OX'],
  ['{x,y}', '1024,768'],
  ['{x,hello,y}', '1024,Hello%20World%21,768'],
  ['?{x,empty}', '?1024,'],
  ['{var:3}', 'val'],
  ['{var:30}', 'value'],
  ['{+hello}', 'Hello%20World!'],
  ['{+half}', '50%25'],
  ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
  ['{+base}index', 'http://example.com/home/index'],
  ['up{+path}{var}/here', 'up/foo/barvalue/here'],
  ['{+x,hello,y}', '1024,Hello%20World!,768'],
  ['{+path:6}here', '/foo/bhere'],
  ['{#var}', '#value'],
  ['{#x,hello,y}', '#1024,Hello%20World!,768'],
  ['{#path,x}/here', '#/foo/bar,1024/here'],
  ['foo{#empty}', 'foo#'],
  ['X{.var}', 'X.value'],
  ['{.half,who}', '.50%25.fred'],
  ['X{.empty}', 'X.'],
  ['{/who}', '/fred'],
  ['{/half,who}', '/50%25/fred'],
  ['{/who,dub}', '/fred/me%2Ftoo'],
  ['{/var,x}/here', '/value/1024/here'],
  ['{/var:1,var}', '/v/value'],
  ['{;half}', ';half=50%25'],
  ['{;empty}', ';empty'],
  ['{;v,empty,who}', ';v=6;empty;who=fred'],
  ['{;x,y,empty}', ';x=1024;y=768;empty'],
  ['{?x,y}', '?x=1024&y=768'],
  ['{?x,y,empty}', '?x=1024&y=768&empty='],
  ['{?var:3}', '?var=val'],
  ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
  ['{&x,y,empty}', '&x=1024&y=768&empty='],
])('%s expands to %s', (text, uri) => {
  expect(parse(text).expand(rfcValues)).toBe(uri);
});

test('nothing is made of a template of which a variable has no value, or one that no URI can carry', () => {
  const template = parse('x{a}{?b}');
  expect(template.expand(new Map([['a', '1']]))).toBeUndefined();
  expect(template.expand(new Map([['b', '1']]))).toBeUndefined();
  expect(template.expand(new Map(Object.entries({ a: '1', b: '\ud800' })))).toBeUndefined();
  expect(template.expand(new Map(Object.entries({ a: '1', b: '\ud83d\ude00', c: '' })))).toBe('x1?b=%F0%9F%98%80');
});

test.each<[string, string, Record<string, string> | undefined]>([
  ['file:///a', 'file:///a', {}],
  ['file:///a', 'file:///ab', undefined],
  ['', '', {}],
  ['', 'x', undefined],
  ['u://{id}', 'u://7', { id: '7' }],
  ['u://{id}', 'u://', undefined],
  ['u://{id}', 'v://7', undefined],
  ['u://{id}', 'u://7/8', undefined],
  ['u://{id}', 'u://7?x', undefined],
  ['u://{id}', 'u://7#x', undefined],
  ['u://{id}', 'u://7%2F8%20%C3%A9', { id: '7/8 é' }],
  ['u://{id}', 'u://50%', { id: '50%' }],
  ['u://{id}', 'u://%FF', { id: '%FF' }],
  ['u://{id}/end', 'u://7/end', { id: '7' }],
  ['u://{id}/end', 'u://7/en', undefined],
  ['u://{a-b}/{größe}', 'u://1/2', { 'a-b': '1', größe: '2' }],
  ['u://{a}{b}', 'u://xyz', { a: 'xy', b: 'z' }],
  ['u://{a}{b}', 'u://x', undefined],
  ['{a,b}', '1,2', { a: '1', b: '2' }],
  ['{a,b}', '1', { a: '1' }],
  ['{a,b}', '1,2,3', { a: '1', b: '2,3' }],
  ['{a*}', '1,2', { a: '1,2' }],
  ['{a*,b}', '1,2,3', { a: '1,2', b: '3' }],
  ['file:///{+path}', 'file:///a/b?c#d', { path: 'a/b?c#d' }],
  ['file:///{+path}', 'file:///', undefined],
  ['{+path}/end{?v}', 'a/end/end?v=1', { path: 'a/end', v: '1' }],
  ['{+path}{?v,w}', 'a/b?w=1', { path: 'a/b', w: '1' }],
  ['{+a,b}', 'x/1,y/2', { a: 'x/1', b: 'y/2' }],
  ['p{#part}', 'p#a/b', { part: 'a/b' }],
  ['p{#part}', 'p', {}],
  ['p{#part}', 'pa', undefined],
  ['{name}{.ext}', 'a.b.c', { name: 'a.b', ext: 'c' }],
  ['{name}{.ext}', 'a', { name: 'a' }],
  ['x{.a,b}', 'x.1.2.3', { a: '1', b: '2.3' }],
  ['x{/a,b}', 'x/1/2', { a: '1', b: '2' }],
  ['x{/a,b}', 'x/1', { a: '1' }],
  ['x{/a,b}', 'x/1/2/3', undefined],
  ['x{/a,b}/y', 'x/1/y', { a: '1' }],
  ['x{/a*}', 'x/1/2/3', { a: '1/2/3' }],
  ['x{;a,b}', 'x;a=1;b', { a: '1', b: '' }],
  ['x{;a,b}', 'x;b=2', { b: '2' }],
  ['x{;a,b}', 'x;a=1;c=2', undefined],
  ['x{;a*}', 'x;a=1;c=2', { a: 'a=1;c=2' }],
  ['x{?a,b}', 'x?a=1&b=2', { a: '1', b: '2' }],
  ['x{?a,b}', 'x?b=/2?', { b: '/2?' }],
  ['x{?a,b}', 'x?a=', { a: '' }],
  ['x{?a,b}', 'x', {}],
  ['x{?a,b}', 'x?', undefined],
  ['x{?a,b}', 'x?b=2&a=1', undefined],
  ['x{?a,b}', 'x?a=1&c=2', undefined],
  ['x{?a,b}', 'x&a=1', undefined],
  ['x{?a,b}', 'x?a=1#f', undefined],
  ['x{?a,b}{#f}', 'x?a=1#f', { a: '1', f: 'f' }],
  ['x{?a*}', 'x?a=1', { a: '1' }],
  ['x{?a*}', 'x?a=1&a=2', { a: 'a=1&a=2' }],
  ['x{?a*,b}', 'x?k=1&b=2', { a: 'k=1', b: '2' }],
  ['x?k=1{&a,b}', 'x?k=1&b=2', { b: '2' }],
  ['{a}/{a}', '1/1', { a: '1' }],
  ['{a}/{a}', '1/2', undefined],
  ['{a:1}/{a}', 'v/value', { a: 'value' }],
  ['{a}/{a:1}', 'value/v', { a: 'value' }],
  ['{a:3}', 'val', { a: 'val' }],
])('%s matches %s: %j', (text, uri, expected) => {
  const values = parse(text).match(uri);
  expect(values && Object.fromEntries(values)).toEqual(expected);
});

test('variables are named in order of appearance, each once; the start tells how specific a template is', () => {
  const template = parse('x://a/{b,a}/{+b}{?c*,d:3}');
  expect(template.variables).toEqual(['b', 'a', 'c', 'd']);
  expect(template.literalStart).toBe('x://a/');
  expect(parse('{a}x').literalStart).toBe('');
  expect(parse('x://a')).toMatchObject({ variables: [], literalStart: 'x://a' });
});

test.each([
  ...['{', '}', '{a', 'a}', '{}', '{{a}}', '{a}}', '{a{b}}', '}{', '{+}', '{?}', '{,a}', '{a,}', '{a,,b}'],
  ...['{=a}', '{!a}', '{@a}', '{|a}', '{$a}', '{(a}', '{++a}', '{?&a}', '{a+}', '{a b}', '{ a}', '{a\n}'],
  ...['{a**}', '{a*:3}', '{a:}', '{a:0}', '{a:-1}', '{a:10000}', '{a:x}', '{*}', '{:3}'],
  '{a}'.repeat(17),
  `{${'a,'.repeat(16)}a}`,
  'x'.repeat(2049),
])('no template: %s', (text) => {
  expect(parseUriTemplate(text)).toBeUndefined();
});

test('nothing is compared beyond the budget, and the budget says so', () => {
  const template = parse('x:{+a}{?b,c*}/end');
  const uri = 'x:1/2?b=3/end';
  const enough = createWorkBudget(1000);
  expect(template.match(uri, enough)?.get('a')).toBe('1/2');
  expect(enough.isSpent).toBe(false);
  const little = createWorkBudget(100);
  expect(template.match(uri, little)).toBeUndefined();
  expect(little.isSpent).toBe(true);
  // Start and end cost next to nothing.
  const glances = createWorkBudget(100);
  for (const other of ['y:1/end', 'x:1/en', 'x:/en', 'x:']) expect(template.match(other, glances)).toBeUndefined();
  expect(glances.isSpent).toBe(false);
});

test.each([
  ['ab{+x}ba', 'aba', false],
  ['ab{+x}ba', 'abba', false],
  ['ab{+x}ba', 'abxba', true],
  ['ab{#x}ba', 'abba', true],
  ['ab{#x}ba', 'aba', false],
])('start and end of %s share no character of %s', (text, uri, fits) => {
  expect(parse(text).match(uri) !== undefined).toBe(fits);
});

test('templates and URIs are bounded', () => {
  expect(parseUriTemplate('{a}'.repeat(16))).toBeDefined();
  expect(parseUriTemplate('x'.repeat(2048))).toBeDefined();
  expect(
    parse('{+a}')
      .match('x'.repeat(16 * 1024))
      ?.get('a'),
  ).toHaveLength(16 * 1024);
  expect(parse('{+a}').match('x'.repeat(16 * 1024 + 1))).toBeUndefined();
});

const wellFormed = fc
  .string({ unit: 'binary', maxLength: 12, size: 'max' })
  .filter((value) => !/\p{Surrogate}/u.test(value));
const someValue = wellFormed.filter((value) => value !== '');

test('values come back as they were given', () => {
  const template = parse('x://{a}/lit/{b,c}{/d,e}{;f,g}{?h,i}{&j*}{#k}');
  const values = fc.record({
    ...Object.fromEntries([...'abcdek'].map((name) => [name, someValue])),
    ...Object.fromEntries([...'fghij'].map((name) => [name, wellFormed])),
  });
  fc.assert(
    fc.property(values, (given) => {
      const uri = template.expand(new Map(Object.entries(given)));
      expect(uri).toMatch(/^[!-~]+$/);
      expect(template.match(String(uri))).toEqual(new Map(Object.entries(given)));
    }),
  );
});

/** Templates of any shape; each variable has a name of its own. */
const anyTemplate = fc
  .array(
    fc.record({
      literal: fc.string({ unit: fc.constantFrom(...'ab/?&#=.,;%'), maxLength: 3 }),
      operator: fc.constantFrom('', '+', '#', '.', '/', ';', '?', '&'),
      modifiers: fc.array(fc.constantFrom('', '', '*', ':2'), { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 5 },
  )
  .map((parts) => {
    let count = 0;
    const spell = (modifier: string): string => `v${count++}${modifier}`;
    return parts.map((part) => `${part.literal}{${part.operator}${part.modifiers.map(spell)}}`).join('');
  });

test('every URI that a template makes is one that it matches', () => {
  fc.assert(
    fc.property(anyTemplate, fc.array(someValue, { minLength: 15, maxLength: 15 }), (text, values) => {
      const template = parse(text);
      const uri = template.expand(new Map(values.map((value, index) => [`v${index}`, value])));
      expect(template.match(String(uri))).toBeDefined();
    }),
    { numRuns: 500 },
  );
});

test('nobody can make it fail or think for long', () => {
  const hostile = fc.oneof(
    anyTemplate,
    fc.constantFrom('{a}{b}{c}{d}x', '{+a}{+b}{+c}{+d}x', '{a*}{b*}{c*}{d*}x', '{?a*,b*,c*}x'),
    fc
      .constantFrom('', 'aaaa', 'a/')
      .map((between) => [...'abcdefghijklmnop'].map((name) => `{+${name}}`).join(between)),
    fc.constantFrom('b', '{+b}').map((end) => `{+a}${'a'.repeat(2000)}${end}`),
  );
  const long = fc
    .tuple(
      fc.constantFrom('a', 'aa/', 'a,', 'a=1&', '?', ';v0', '%41', '\ud800', '.a'),
      fc.constantFrom('', 'x', 'b', '/'),
    )
    .map(([unit, end]) => unit.repeat(10_000 / unit.length) + end);
  fc.assert(
    fc.property(hostile, long, (text, uri) => {
      const template = parse(text);
      const names = [...(template.match(uri)?.keys() ?? [])];
      expect(template.variables).toEqual(expect.arrayContaining(names));
    }),
  );
  expect(parse('{a}{b}{c}{d}x').match('a'.repeat(10_000))).toBeUndefined();
  expect(
    parse('{a}{b}{c}{d}x')
      .match(`${'a'.repeat(10_000)}x`)
      ?.get('a'),
  ).toHaveLength(9_997);
});

test('no text is too strange', () => {
  const strange = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'{}+#./;?&*:,ab1%') }));
  fc.assert(
    fc.property(strange, strange, (text, uri) => {
      const template = parseUriTemplate(text);
      if (template === undefined) return;
      expect(text.startsWith(template.literalStart)).toBe(true);
      template.match(uri);
      template.match(template.literalStart + uri);
    }),
    { numRuns: 1000 },
  );
});
