import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createRedaction, mostOldSecrets } from './redaction.ts';

test(verifies('ledger:redaction', 'a value stays hidden when a reload replaces it'), () => {
  const redaction = createRedaction({ secrets: ['first-value'], shortSecrets: ['4711'] });
  redaction.learn({ secrets: ['second-value'], shortSecrets: [] });
  expect(redaction.message('first-value second-value 4711')).toBe('[redacted] [redacted] [redacted]');
  expect(redaction.json('{"a":"first-value","b":4711}')).toBe('{"a":"[redacted]","b":"[redacted]"}');
});

test('the oldest of very many values is forgotten first, and none of today', () => {
  const today = Array.from({ length: 50 }, (_, index) => `value-of-today-${index}`);
  const redaction = createRedaction({ secrets: ['the-very-first', ...today], shortSecrets: [] });
  redaction.learn({ secrets: today, shortSecrets: [] });
  for (let round = 0; round < mostOldSecrets; round++) {
    if (round % 100 === 0) expect(redaction.message('the-very-first')).toBe('[redacted]');
    redaction.learn({ secrets: [...today, `value-of-round-${round}`], shortSecrets: [] });
  }
  redaction.learn({ secrets: today, shortSecrets: [] });
  expect(redaction.message('the-very-first')).toBe('the-very-first');
  expect(redaction.message('value-of-round-0')).toBe('[redacted]');
  expect(redaction.message('value-of-today-0')).toBe('[redacted]');
});

test(verifies('ledger:redaction', 'the lines of a secret with line breaks are hidden one by one'), () => {
  const redaction = createRedaction({
    secrets: ['-----BEGIN-----\nMIIEvQIBADAN\r\nx\n-----END-----'],
    shortSecrets: [],
  });
  expect(redaction.line('key: MIIEvQIBADAN')).toBe('key: [redacted]');
  expect(redaction.line('xylophone')).toBe('xylophone');
  redaction.learn({ secrets: ['second\nvalue-of-two'], shortSecrets: [] });
  expect(redaction.line('value-of-two MIIEvQIBADAN')).toBe('[redacted] [redacted]');
  expect(redaction.line('a'.repeat(9000))).toHaveLength(8 * 1024 + 1);
});
