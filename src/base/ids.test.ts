import { expect, test } from 'vitest';
import { createId, systemRandom } from './ids.ts';

test('each byte is one character, every character of the alphabet as often as the others', () => {
  const everyByte = createId(() => Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), 256);
  expect(everyByte).toBe('0123456789abcdefghjkmnpqrstvwxyz'.repeat(8));
});

test('ids have the length that was asked for, are safe anywhere, and differ', () => {
  const ids = Array.from({ length: 100 }, () => createId(systemRandom, 16));
  for (const id of ids) expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{16}$/);
  expect(new Set(ids).size).toBe(100);
});
