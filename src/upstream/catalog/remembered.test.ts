import { expect, test } from 'vitest';
import { expectation, type RememberedServer } from './remembered.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const now = 100 * day;

function remembered(more: Partial<RememberedServer>): RememberedServer {
  return {
    connectionKey: 'key',
    era: 'legacy',
    protocolVersion: '2025-06-18',
    verdictAt: now - day,
    tools: [],
    at: now - minute,
    ...more,
  };
}

test('an unknown server has no expected result', () => {
  expect(expectation(undefined, now)).toBeUndefined();
});

test('a record without a transport is about the first transport', () => {
  expect(expectation(remembered({}), now)).toEqual({ place: 0, settled: true, era: 'legacy', first: true });
});

test('a settled transport is first as long as the detected protocol version is current', () => {
  const via = { place: 1, settled: true };
  expect(expectation(remembered({ via }), now)).toEqual({ ...via, era: 'legacy', first: true });
  expect(expectation(remembered({ via, at: now - day }), now)).toMatchObject({ first: true });
  expect(expectation(remembered({ via, verdictAt: now - 8 * day }), now)).toEqual({
    ...via,
    era: undefined,
    first: false,
  });
});

test('a stand-in is first for ten minutes after it was last seen', () => {
  const via = { place: 2, settled: false };
  expect(expectation(remembered({ via, at: now - 9 * minute }), now)).toMatchObject({ place: 2, first: true });
  expect(expectation(remembered({ via, at: now - 11 * minute }), now)).toEqual({ ...via, era: 'legacy', first: false });
});
