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
