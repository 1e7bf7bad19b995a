import { expect, test } from 'vitest';
import { HubError } from '../../base/index.ts';
import { parseTtl } from './ttl.ts';

test.each([
  ['30d', 2_592_000_000],
  ['12h', 43_200_000],
  ['15m', 900_000],
  ['90s', 90_000],
])('%s', (text, ms) => {
  expect(parseTtl(text)).toBe(ms);
});

test.each(['', '0d', '30', 'd', '-1d', '1.5h', '1 h', '30D', '1w', '3651d', '9999999999d', '1d\n'])(
  '"%s" is a usage error that shows the form',
  (text) => {
    expect(() => parseTtl(text)).toThrow(
      expect.objectContaining({ code: 'USAGE', hint: expect.stringContaining('30d, 12h, 15m or 90s') }),
    );
    expect(() => parseTtl(text)).toThrow(HubError);
  },
);
