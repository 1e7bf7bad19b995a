import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createRedactor } from './index.ts';

const long = Array.from({ length: 900 }, (_, index) => `L${index}`).join('.');
const secrets = ['s3cr3t with spaces in it', 'tok-0123456789', long];
const redactor = createRedactor(secrets, ['4711']);

test('a text is cut before it is redacted, and says so', () => {
  expect(redactor.message('word '.repeat(10_000), 20)).toBe(`${'word '.repeat(4)}…`);
  expect(redactor.message('x'.repeat(10_000), 20)).toBe(`${'x'.repeat(20)}…`);
  expect(redactor.message('x'.repeat(25), 20)).toBe(`${'x'.repeat(20)}…`);
  expect(redactor.message('short', 20)).toBe('short');
  expect(redactor.message(`${'😀'.repeat(20)}`, 21)).toBe(`${'😀'.repeat(10)}…`);
});

test(verifies('ledger:redaction', 'no cut shows a part of what redaction hides, wherever it falls'), () => {
  const jwt = `eyJ${'h'.repeat(6000)}.${'p'.repeat(6000)}.s`;
  const hidden = [
    ...secrets,
    ...secrets.map((secret) => Buffer.from(`user:${secret}`).toString('base64')),
    'ghp_0123456789abcdefghij',
    jwt,
    `postgres://app:${'w'.repeat(9000)}@db/x`,
    `password="${'a b '.repeat(3000)}"`,
    `-----BEGIN PRIVATE KEY-----\n${'MIIE\n'.repeat(2000)}-----END PRIVATE KEY-----`,
  ];
  for (const each of hidden) {
    for (const most of [1, 5, 10, 20, 40, 200]) {
      const text = `${'.'.repeat(10)} ${each} ${'and more '.repeat(4000)}`;
      const shown = redactor.message(text, most);
      expect(shown.length).toBeLessThanOrEqual(Math.max(most, '[redacted]'.length) + 1);
      // What is left once the marks are out must be left by redaction of the whole text as well.
      const whole = redactor.message(text);
      const common = commonStart(shown.slice(0, -1), whole);
      expect(['', '[redacted]'], `${JSON.stringify(shown)} of ${each.slice(0, 20)}`).toContain(shown.slice(common, -1));
    }
  }
});

test(verifies('ledger:redaction', 'property: a value that a cut goes through does not show its beginning'), () => {
  const filler = fc.stringMatching(/^[a-m ]{0,60}$/);
  fc.assert(
    fc.property(filler, fc.constantFrom(...secrets), fc.nat(80), (before, secret, most) => {
      const shown = redactor.message(`${before} ${secret} ${'n '.repeat(5000)}`, most + 1);
      for (let length = 3; length < 20; length++) expect(shown).not.toContain(secret.slice(0, length));
    }),
  );
});

test('JSON that is cut still has members, and strings with escapes', () => {
  const members = `{"credentials":{"user":"u-u-u","list":[${'"x",'.repeat(5000)}"x"]}}`;
  expect(redactor.message(members, 60)).not.toContain('u-u-u');
  const spelled = `{"log":"\\u0074ok-0123456789 ${'word '.repeat(5000)}"}`;
  expect(redactor.message(spelled, 60)).not.toContain('ok-0123456789');
});

test(verifies('ledger:redaction', 'no cut of JSON shows a part of a secret, wherever it falls'), () => {
  const lengths = [1, 40, 60, 100, 4000, 5000, 30_000];
  for (const secret of [...secrets, `ghp_${'a'.repeat(6000)}`, `Bearer ${'b'.repeat(6000)}`]) {
    for (const behind of lengths) {
      for (let before = 0; before < 70; before += 3) {
        const text = `{"a":"${'x'.repeat(before)} ${secret}","b":"${'y '.repeat(behind)}"}`;
        const shown = redactor.json(text, 60).slice(0, 60);
        for (let length = secret.startsWith('Bearer') ? 8 : 5; length < 12; length++) {
          expect(shown).not.toContain(secret.slice(0, length));
        }
      }
    }
  }
});

test('JSON that is cut has the beginning that the whole would have', () => {
  const whole = JSON.stringify({ a: 'tok-0123456789', password: 'p'.repeat(50), n: [1, 2], b: 'word '.repeat(20_000) });
  for (const most of [1, 5, 10, 30, 100, 5000]) {
    const shown = redactor.json(whole, most);
    expect(redactor.json(whole).startsWith(shown.slice(0, Math.min(most, shown.length)))).toBe(true);
  }
  expect(redactor.json(whole, 5000).length).toBeGreaterThanOrEqual(5000);
  expect(redactor.json(whole, whole.length)).toBe(redactor.json(whole));
});

test('strings written in escapes, numbers and keys are cut in the same way', () => {
  const escaped = `{"a":"${'\\u0078'.repeat(50_000)}"}`;
  expect(redactor.json(escaped, 100).slice(0, 100)).toBe(`{"a":"${'x'.repeat(94)}`);
  expect(redactor.json(`[${'1,'.repeat(50_000)}1]`, 100).slice(0, 100)).toBe(`[${'1,'.repeat(50)}`.slice(0, 100));
  const numbers = createRedactor(['7654321']);
  expect(numbers.json(`[${'1,'.repeat(48)}7654321,${'1,'.repeat(9000)}1]`, 100)).not.toMatch(/7654/);
  const key = `{"${'k'.repeat(120)} password":"hunter2","b":"${'y'.repeat(9000)}"}`;
  expect(redactor.json(key, 100)).not.toContain('hunter2');
});

test('what was cut elsewhere is known by its ellipsis', () => {
  expect(redactor.message('Unknown tool: tok-01234…')).toBe('Unknown tool: [redacted]…');
  expect(redactor.message('Unknown tool: tok-01234')).toBe('Unknown tool: tok-01234');
});

function commonStart(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return at;
}
