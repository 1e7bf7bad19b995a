import { expect, test } from 'vitest';
import { cookieName } from '../../base/index.ts';
import { bootMark, formatCookie, parseCookie } from './cookie.ts';

const owner = { boot: 'abc123', pid: 42, start: 987, namespace: '4026531836' };

test('a cookie names its owner', () => {
  expect(parseCookie(formatCookie(owner, 7))).toEqual(owner);
  expect(`${cookieName}=${formatCookie(owner, 7)}`.startsWith(bootMark(owner))).toBe(true);
});

test.each([
  '',
  'abc123',
  'abc123:0:987:1:7',
  'abc123:-1:987:1:7',
  'abc123:42:987:1',
  'abc123:42:987:1:7:8',
  'ABC:42:987:1:7',
])('what is not a cookie names nobody: %j', (text) => {
  expect(parseCookie(text)).toBeUndefined();
});
