import { expect, test } from 'vitest';
import { quoted, readTableName } from './identifiers.ts';

test.each([
  ['orders', undefined, 'orders'],
  [' shop.orders ', 'shop', 'orders'],
  ['Shop.Orders', 'Shop', 'Orders'],
  ['"a.b"."c""d"', 'a.b', 'c"d'],
  ['"a b".c', 'a b', 'c'],
  ['Ünïcode 名', undefined, 'Ünïcode 名'],
])('%s is a table', (text, schema, name) => {
  expect(readTableName(text)).toEqual({ schema, name });
});

test.each(['', '.', 'a.', '.b', 'a.b.c', '"a', 'a"b', '""', '"a"b', 'a"; DROP TABLE b; --'])('%s is none', (text) => {
  expect(() => readTableName(text)).toThrow('is not a valid table name');
});

test('a quoted name ends where it should', () => {
  expect(quoted('a"; DROP TABLE b; --')).toBe('"a""; DROP TABLE b; --"');
  expect(() => quoted('a\0b')).toThrow('NUL');
});
