import { expect, test } from 'vitest';
import { findHeaderMismatch } from './check-mirrored-arguments.ts';

const mirrored = [
  { header: 'Region', path: ['region'] },
  { header: 'Zone', path: ['place', 'zone'] },
];

function comparison(args: unknown, headers: Record<string, string>): string {
  return findHeaderMismatch(mirrored, args, headers)?.message ?? 'same';
}

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

test('header and body must say the same, in whatever spelling', () => {
  expect(comparison({ region: 'eu' }, { 'mcp-param-region': 'eu' })).toBe('same');
  expect(comparison({ region: 'eu' }, { 'mcp-param-region': ' eu ' })).toBe('same');
  expect(comparison({ region: 'Zürich' }, { 'mcp-param-region': base64('Zürich') })).toBe('same');
  expect(comparison({ region: 'eu' }, { 'mcp-param-region': base64('eu') })).toBe('same');
  expect(
    comparison({ region: true, place: { zone: 42 } }, { 'mcp-param-region': 'true', 'mcp-param-zone': '42.0' }),
  ).toBe('same');
});

test('what differs is refused by name', () => {
  const differs = 'Header mismatch: the Mcp-Param-Region header differs from the body.';
  expect(comparison({ region: 'eu' }, { 'mcp-param-region': 'us' })).toBe(differs);
  expect(comparison({ region: 'eu' }, { 'mcp-param-region': 'EU' })).toBe(differs);
  expect(comparison({ region: '42' }, { 'mcp-param-region': '42.0' })).toBe(differs);
  expect(comparison({ region: 42 }, { 'mcp-param-region': '0x2a' })).toBe(differs);
  expect(comparison({ region: 'eu' }, { 'mcp-param-region': '=?base64?ZXU?=' })).toBe(differs);
  expect(comparison({ region: 'eu' }, { 'mcp-param-region': '=?base64?!!!!?=' })).toBe(differs);
  expect(comparison({ region: 'eu' }, { 'mcp-param-region': '=?base64?/w==?=' })).toBe(differs);
  expect(comparison({ place: { zone: 'a' } }, {})).toBe('Header mismatch: the Mcp-Param-Zone header is missing.');
});

test('an argument that is absent, null or no plain value wants no header', () => {
  for (const args of [{}, { region: null }, { region: {} }, { place: 'x' }, undefined, []]) {
    expect(comparison(args, { 'mcp-param-region': 'anything' })).toBe('same');
  }
});
