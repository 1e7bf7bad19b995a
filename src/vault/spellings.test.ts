import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createRedactor } from './index.ts';

const secret = 'pa55/wörd +x?';
const redactor = createRedactor([secret, 'another-value-of-the-hub']);

test.each([
  ['percent encoding', encodeURIComponent(secret)],
  ['percent encoding in small letters', encodeURIComponent(secret).replace(/%[0-9A-F]{2}/g, (e) => e.toLowerCase())],
  ['a form', new URLSearchParams({ q: secret }).toString().slice(2)],
  ['hexadecimal', Buffer.from(secret).toString('hex')],
  ['hexadecimal in capitals', Buffer.from(secret).toString('hex').toUpperCase()],
  ['base64', Buffer.from(secret).toString('base64')],
  ['base64 for addresses', Buffer.from(secret).toString('base64url')],
  ['JSON', JSON.stringify(secret).slice(1, -1)],
  ['JSON that keeps to ASCII', 'pa55/w\\u00f6rd +x?'],
  ['JSON that escapes slashes', 'pa55\\/wörd +x?'],
])(verifies('ledger:redaction', 'a known value is hidden in %s'), (_, spelled) => {
  expect(redactor.message(`<${spelled}>`)).toMatch(/^<[^<>]{0,1}\[redacted\]=*>$/);
  expect(redactor.json(JSON.stringify({ a: spelled }))).not.toContain(spelled);
});

const hard = [
  "Pa|s's^w{o}rd$x",
  'Tok~en!*(abc)def/gh+ij k',
  'päßwörd-ünï',
  'a%41b "c" 😀',
  'a\\nb "c" 😀',
  '€uro-zeichen',
  'Ab/+ ä',
];
const hidden = createRedactor(hard);

const encodings: readonly [name: string, encode: (value: string) => string][] = [
  ['percent encoding of every byte', (value) => percent(value)],
  ['percent encoding of every byte in capitals', (value) => percent(value).toUpperCase()],
  ['percent encoding in mixed case', (value) => mixedCase(encodeURIComponent(value), /%[\dA-F]{2}/g)],
  ['percent encoding twice', (value) => encodeURIComponent(encodeURIComponent(value))],
  ['a form', (value) => new URLSearchParams({ q: value }).toString().slice(2)],
  ['the path of a URL', (value) => new URL(`http://h/${value}`).href.slice('http://h/'.length)],
  ['the query of a URL', (value) => new URL(`http://h/?${value}`).search.slice(1)],
  ['the user of a URL', (value) => withUser(value).username],
  ['escape()', (value) => legacyEscape(value)],
  ['hexadecimal in mixed case', (value) => mixedCase(Buffer.from(value).toString('hex'), /[a-f]/g)],
  [
    'escapes with capital digits',
    (value) => units(value, (code) => `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`),
  ],
  ['escapes with small digits', (value) => units(value, (code) => `\\u${code.toString(16).padStart(4, '0')}`)],
  ['base64 in percent encoding', (value) => encodeURIComponent(Buffer.from(value).toString('base64'))],
];

test.each(encodings)(verifies('ledger:redaction', 'every known value is hidden in %s'), (_, encode) => {
  for (const value of hard) {
    const spelled = encode(value);
    expect(hidden.message(`<${spelled}>`), spelled).toMatch(/^<[^<>]{0,1}\[redacted\](?:=|%3D)*>$/);
    const { a } = JSON.parse(hidden.json(JSON.stringify({ a: `<${spelled}>` })));
    expect(a, spelled).toMatch(/^<[^<>]{0,1}\[redacted\](?:=|%3D)*>$/);
  }
});

test(
  verifies('ledger:redaction', 'property: a value is hidden however its characters are escaped, the rest stays'),
  () => {
    const value = fc.string({ unit: 'grapheme', minLength: 6, maxLength: 30, size: 'max' });
    const around = fc.stringMatching(/^[ .,;%\\]{0,8}$/);
    fc.assert(
      fc.property(value, around, fc.infiniteStream(fc.nat(4)), (each, before, ways) => {
        fc.pre(!'[redacted]'.includes(each));
        const written = [...each].map((character) => escaped(character, ways.next().value)).join('');
        const shown = createRedactor([each]).message(`${before}<${written}> 50%`);
        expect(shown).toBe(`${before}<[redacted]> 50%`);
      }),
    );
  },
);

test(verifies('ledger:redaction', 'a value of eight characters or more is hidden in any letter case'), () => {
  const cases = createRedactor(['SecretTenantXYZ', 'Berlin7', 'GRÖSSE-42']);
  expect(cases.message('The name secrettenantxyz.invalid')).toBe('The name [redacted].invalid');
  expect(cases.message('SECRETTENANTXYZ, größe-42')).toBe('[redacted], größe-42');
  expect(cases.message('grösse-42')).toBe('[redacted]');
  expect(cases.message('%73ECRETtenant%58yz')).toBe('[redacted]');
  expect(cases.message('Berlin7 and berlin7')).toBe('[redacted] and berlin7');
  expect(cases.json('{"a":"secrettenantxyz"}')).toBe('{"a":"[redacted]"}');
});

test('what was cut inside an escape is hidden up to the ellipsis', () => {
  const whole = percent('päßwörd-ünï');
  for (let length = 27; length < whole.length; length++) {
    expect(hidden.message(`<${whole.slice(0, length)}…`), String(length)).toBe('<[redacted]…');
  }
  expect(hidden.message('<\\u0070\\u00e4\\u00DFw\\u00f6rd-\\u00…')).toBe('<[redacted]…');
});

test('escapes that spell no secret stay as they are', () => {
  for (const text of ['100 %, %zz %C3 %C3%28 %u00 %ED%A0%80 \\u12 \\x \\', 'C:\\users\\x %41%42 a+b \\/']) {
    expect(hidden.message(text)).toBe(text);
    expect(hidden.json(JSON.stringify([text]))).toBe(JSON.stringify([text]));
  }
});

test(verifies('ledger:redaction', 'property: base64 of a text that holds a value shows none of it'), () => {
  const around = fc.string({ unit: 'binary-ascii', maxLength: 12, size: 'max' });
  const value = fc.string({ unit: 'grapheme-ascii', minLength: 6, maxLength: 40, size: 'max' });
  fc.assert(
    fc.property(
      around,
      value,
      around,
      fc.constantFrom('base64' as const, 'base64url' as const),
      (before, each, after, kind) => {
        fc.pre(!'[redacted]'.includes(each));
        const whole = Buffer.from(before + each + after).toString(kind);
        const shown = createRedactor([each]).message(`Basic ${whole}`);
        expect(shown).toContain('[redacted]');
        // What is left belongs to the neighbours: all that four characters encode is less than half of the shortest value.
        const left = shown.replace('Basic ', '').replace('[redacted]', '').replaceAll('=', '');
        expect(left.length).toBeLessThanOrEqual(whole.length - Math.floor((each.length * 4) / 3) + 2);
      },
    ),
  );
});

test('a value is hidden among hundreds, and overlapping ones together', () => {
  const many = Array.from({ length: 500 }, (_, index) => `value-number-${index}-of-many`);
  const all = createRedactor([...many, 'abcdefgh', 'efghijkl']);
  expect(all.message(`x ${many[499]} y`)).toBe('x [redacted] y');
  expect(all.message('x abcdefghijkl y')).toBe('x [redacted] y');
  expect(all.message('x abcdefghabcdefgh y')).toBe('x [redacted][redacted] y');
  expect(all.message('x value-number-499-of y')).toBe('x value-number-499-of y');
});

test('of a long value, as much is hidden as is there', () => {
  const long = Array.from({ length: 2000 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('-');
  const one = createRedactor([long]);
  expect(one.message(`<${long}>`)).toBe('<[redacted]>');
  expect(one.message(`<${long.slice(0, 1500)}>`)).toBe('<[redacted]>');
  expect(one.message(`<${'ab'.repeat(300)}>`)).toBe(`<${'ab'.repeat(300)}>`);
});

const short = createRedactor(['long-enough'], ['pin1', '1234', 'abc', '7', 'a"b\\']);

test.each([
  [
    '{"code":"1234","text":"the code 1234, not 12345 or x1234"}',
    '{"code":"[redacted]","text":"the code [redacted], not 12345 or x1234"}',
  ],
  ['{"n":1234,"m":12345,"list":[7,77]}', '{"n":"[redacted]","m":12345,"list":["[redacted]",77]}'],
  ['{"a":"abc","b":"abc def","c":"7"}', '{"a":"[redacted]","b":"abc def","c":"[redacted]"}'],
  ['{"a":"a\\"b\\\\"}', '{"a":"[redacted]"}'],
  ['{"pin1":"pin1s"}', '{"[redacted]":"pin1s"}'],
])(verifies('ledger:redaction', 'short secrets are hidden where they stand alone: %s'), (text, shown) => {
  expect(short.json(text)).toBe(shown);
});

test('a short secret is hidden in a message as a word, and below four characters as all of it', () => {
  expect(short.message('wrong pin1!')).toBe('wrong [redacted]!');
  expect(short.message('abc')).toBe('[redacted]');
  expect(short.message('abc def 7')).toBe('abc def 7');
});

function percent(value: string): string {
  return [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** As `escape` in JavaScript writes it: Latin-1 in two digits, all else in four. */
function legacyEscape(value: string): string {
  return value.replace(/[^\w@*./-]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 256 ? `%${code.toString(16).padStart(2, '0')}` : `%u${code.toString(16).padStart(4, '0')}`;
  });
}

function mixedCase(text: string, part: RegExp): string {
  let turn = 0;
  return text.replace(part, (each) => (turn++ % 2 === 0 ? each.toLowerCase() : each.toUpperCase()));
}

function units(value: string, spell: (code: number) => string): string {
  return value.replace(/[\s\S]/g, (unit) => spell(unit.charCodeAt(0)));
}

function withUser(value: string): URL {
  const url = new URL('http://h/');
  url.username = value;
  return url;
}

function escaped(character: string, way: number): string {
  if (way === 0) return percent(character);
  if (way === 1) return percent(character).toUpperCase();
  if (way === 2) return units(character, (code) => `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`);
  // A character that begins an escape must be escaped itself.
  return /[%\\+]/.test(character) ? percent(character) : character;
}
