import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import type { TokenBook, TokenIdentity } from '../../governance/index.ts';
import { createTokenCache } from './token-cache.ts';

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
  return { tokenId: 'id', agent: 'tester', chain: ['tester'], run: undefined, runKeys: [], expires };
}

test('a result is cached until the token expires or any token changes', () => {
  const clock = createMovingClock();
  const valid = new Map([['t', identity(clock.now() + 1000)]]);
  const { book, asked } = bookOf(valid);
  const tokenCache = createTokenCache(book, clock);
  expect(tokenCache.identify('Bearer t')?.agent).toBe('tester');
  expect(tokenCache.identify('Bearer t')?.agent).toBe('tester');
  expect(asked).toEqual(['t']);
  tokenCache.forget();
  valid.delete('t');
  expect(tokenCache.identify('Bearer t')).toBeUndefined();
  valid.set('t', identity(clock.now() + 1000));
  expect(tokenCache.identify('Bearer t')?.agent).toBe('tester');
  valid.delete('t');
  clock.advance(2000);
  expect(tokenCache.identify('Bearer t')).toBeUndefined();
  expect(tokenCache.identify('Bearer t')).toBeUndefined();
});

test('a refusal is not kept: a token may be issued a moment later', () => {
  const clock = createMovingClock();
  const valid = new Map<string, TokenIdentity>();
  const tokenCache = createTokenCache(bookOf(valid).book, clock);
  expect(tokenCache.identify('Bearer t')).toBeUndefined();
  valid.set('t', identity(clock.now() + 1000));
  expect(tokenCache.identify('Bearer t')).toBeDefined();
});

test('a credential that is not a bearer token never reaches the token book', () => {
  const { book, asked } = bookOf(new Map());
  const tokenCache = createTokenCache(book, createMovingClock());
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
    expect(tokenCache.identify(header)).toBeUndefined();
  }
  expect(asked).toEqual([]);
});
