import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import type { TokenBook, TokenIdentity } from '../../governance/index.ts';
import { createAdmission } from './admission.ts';

function bookOf(valid: Map<string, TokenIdentity>): { book: TokenBook; asked: string[] } {
  const asked: string[] = [];
  const book = {
    authenticate(token: string) {
      asked.push(token);
      return valid.get(token);
    },
  } as TokenBook; // the rest of the book is not looked at
  return { book, asked };
}

function identity(expires: number): TokenIdentity {
  return { tokenId: 'id', agent: 'tester', chain: ['tester'], run: undefined, expires };
}

test('a verdict is kept until the token expires or any token changes', () => {
  const clock = createMovingClock();
  const valid = new Map([['t', identity(clock.now() + 1000)]]);
  const { book, asked } = bookOf(valid);
  const admission = createAdmission(book, clock);
  expect(admission.identify('Bearer t')?.agent).toBe('tester');
  expect(admission.identify('Bearer t')?.agent).toBe('tester');
  expect(asked).toEqual(['t']);
  admission.forget();
  valid.delete('t');
  expect(admission.identify('Bearer t')).toBeUndefined();
  valid.set('t', identity(clock.now() + 1000));
  expect(admission.identify('Bearer t')?.agent).toBe('tester');
  valid.delete('t');
  clock.advance(2000);
  expect(admission.identify('Bearer t')).toBeUndefined();
  expect(admission.identify('Bearer t')).toBeUndefined();
});

test('a refusal is not kept: a token may be issued a moment later', () => {
  const clock = createMovingClock();
  const valid = new Map<string, TokenIdentity>();
  const admission = createAdmission(bookOf(valid).book, clock);
  expect(admission.identify('Bearer t')).toBeUndefined();
  valid.set('t', identity(clock.now() + 1000));
  expect(admission.identify('Bearer t')).toBeDefined();
});

test('what is no bearer token never reaches the book', () => {
  const { book, asked } = bookOf(new Map());
  const admission = createAdmission(book, createMovingClock());
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic t',
    'Bearer a b',
    ' Bearer t',
    `Bearer ${'x'.repeat(300)}`,
  ]) {
    expect(admission.identify(header)).toBeUndefined();
  }
  expect(asked).toEqual([]);
});
