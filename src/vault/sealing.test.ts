import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { systemRandom } from '../base/index.ts';
import { keyIdOf, type OpenedSecret, openSecrets, type SealedDocument, sealSecrets } from './sealing.ts';

const key = randomBytes(32);
const store = '0123456789abcdef';
const secrets: readonly OpenedSecret[] = [
  { name: 'A', value: 'value-of-a', created: 1, updated: 2 },
  { name: 'B', value: 'value-of-b', created: 3, updated: 4 },
];
const seal = (given = secrets, where = store): SealedDocument =>
  sealSecrets(systemRandom, key, { store: where, keyIn: 'file', revision: 7, secrets: given });

test(verifies('secrets:sealed', 'what was sealed opens, and its text shows no value'), () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 200, size: 'max' }), { maxLength: 5 }), (values) => {
      const given = values.map((value, at) => ({
        name: `N${at}`,
        value,
        created: at,
        updated: at,
      }));
      expect(openSecrets(seal(given), key)).toEqual({ kind: 'opened', secrets: given });
    }),
  );
  expect(JSON.stringify(seal())).not.toMatch(/value-of|dmFsdWUt/);
});

test(verifies('secrets:sealed', 'each write has new nonces, also for the same value'), () => {
  const nonces = [seal(), seal()].flatMap((document) => document.secrets.map(({ nonce }) => nonce));
  expect(new Set(nonces).size).toBe(4);
});

const [first, second] = [seal().secrets[0], seal().secrets[1]];
if (first === undefined || second === undefined) throw new Error('two secrets were sealed');

/** The last character of 43 has two bits that decode to nothing. */
function sameBytes(text: string): string {
  const others = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map(
    (last) => text.slice(0, -1) + last,
  );
  const bytes = Buffer.from(text, 'base64url');
  const other = others.find((each) => each !== text && Buffer.from(each, 'base64url').equals(bytes));
  if (other === undefined) throw new Error('there are three');
  return other;
}

/** A document that somebody changed who does not have the key. */
const changes: readonly [string, (document: SealedDocument) => unknown][] = [
  [
    'values swapped between names',
    ({ secrets: [a, b] }) => ({
      secrets: [
        { ...a, name: b?.name },
        { ...b, name: a?.name },
      ],
    }),
  ],
  ['the order', ({ secrets: list }) => ({ secrets: list.toReversed() })],
  ['a secret left out', ({ secrets: [a] }) => ({ secrets: [a] })],
  ['a secret twice', ({ secrets: [a] }) => ({ secrets: [a, a] })],
  ['all secrets left out', () => ({ secrets: [] })],
  ['an older value of the same name', ({ secrets: [, b] }) => ({ secrets: [first, b] })],
  ['a date', ({ secrets: [a, b] }) => ({ secrets: [{ ...a, updated: 99 }, b] })],
  ['another store', () => ({ store: 'fedcba9876543210' })],
  ['another place of the key', () => ({ keyIn: 'keychain' })],
  ['another revision', () => ({ revision: 8 })],
  ['another version', () => ({ version: 0 })],
  ['no mac', () => ({ mac: '' })],
  ['a mac of zeros', () => ({ mac: Buffer.alloc(32).toString('base64url') })],
  ['another text for the same mac', ({ mac }) => ({ mac: sameBytes(mac) })],
  ['a value cut', ({ secrets: [a, b] }) => ({ secrets: [{ ...a, sealed: a?.sealed.slice(0, -4) }, b] })],
  ['no value', ({ secrets: [a, b] }) => ({ secrets: [{ ...a, sealed: '' }, b] })],
];

test.each(changes)(verifies('secrets:sealed', 'a change is noticed: %s'), (_what, change) => {
  const document = seal();
  const changed = { ...document, ...(change(document) as Partial<SealedDocument>) };
  expect(openSecrets(changed, key)).toEqual({ kind: 'changed' });
});

test(verifies('secrets:sealed', 'a change of any one byte is noticed'), () => {
  const document = seal();
  fc.assert(
    fc.property(
      fc.constantFrom('sealed', 'nonce'),
      fc.nat(40),
      fc.integer({ min: 1, max: 255 }),
      (member, at, mask) => {
        const [a, ...others] = document.secrets;
        if (a === undefined) throw new Error('there are two');
        const bytes = Buffer.from(a[member], 'base64url');
        const index = at % bytes.length;
        bytes[index] = (bytes[index] ?? 0) ^ mask;
        const changed = { ...document, secrets: [{ ...a, [member]: bytes.toString('base64url') }, ...others] };
        expect(openSecrets(changed, key)).toEqual({ kind: 'changed' });
      },
    ),
  );
});

test(
  verifies('secrets:sealed', 'each value is bound to its name and store by itself, not only by the whole document'),
  () => {
    // Somebody who has the key, and mixes parts of documents into a new one, is not stopped by the mac alone.
    const other = seal(secrets, 'fedcba9876543210');
    expect(openSecrets(other, key).kind).toBe('opened');
    expect(openSecrets({ ...seal(), secrets: other.secrets }, key)).toEqual({ kind: 'changed' });
  },
);

test(verifies('secrets:sealed', 'another key is told apart from a changed document'), () => {
  const other = randomBytes(32);
  expect(openSecrets(seal(), other)).toEqual({ kind: 'wrong-key' });
  expect(openSecrets(seal(), key.subarray(0, 16))).toEqual({ kind: 'wrong-key' });
  expect(openSecrets({ ...seal(), key: keyIdOf(other) }, other)).toEqual({ kind: 'changed' });
});
