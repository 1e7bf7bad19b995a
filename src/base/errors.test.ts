import { expect, test } from 'vitest';
import { type ErrorCode, errorTable, explainError, HubError, toHubError } from './errors.ts';

// Wider than the table itself, so that its members compare.
const rows = Object.entries(errorTable) as [ErrorCode, HubError['row']][];

test('a number of our own stands for one code', () => {
  const own = rows.map(([, { jsonRpc }]) => jsonRpc).filter((code) => code > -32000);
  expect(own.length).toBeGreaterThan(10);
  expect(own.toSorted()).toEqual([...new Set(own)].toSorted());
});

test.each(rows)('%s: a status of HTTP, a meaning as one sentence', (_code, { http, meaning }) => {
  expect(http).toBeGreaterThanOrEqual(400);
  expect(http).toBeLessThan(600);
  expect(meaning).toMatch(/^[A-Z].*\.$/);
});

test('a call that may have run is never retryable', () => {
  const mayHaveRun = rows.filter(([, { meaning }]) => /may have run|may still run/.test(meaning));
  expect(mayHaveRun.map(([code]) => code)).toEqual(['INTERRUPTED', 'HUB_LOST', 'UPSTREAM_LOST', 'UPSTREAM_TIMEOUT']);
  expect(mayHaveRun.filter(([, { retryable }]) => retryable)).toEqual([]);
});

test('an error brings its row, its cause and what a program may read', () => {
  const cause = new Error('refused');
  const error = new HubError('UPSTREAM_UNAVAILABLE', 'Server "a" is unavailable.', {
    cause,
    hint: 'Start it.',
    details: { server: 'a' },
  });
  expect(error.row).toBe(errorTable.UPSTREAM_UNAVAILABLE);
  expect(error).toMatchObject({ name: 'HubError', cause, details: { server: 'a' } });
  expect(explainError(error)).toBe('Server "a" is unavailable. Start it.');
});

test('an error that was told nothing more says just its message', () => {
  const error = new HubError('USAGE', 'No such option.');
  expect(explainError(error)).toBe('No such option.');
  expect(error.details).toEqual({});
  expect('cause' in error).toBe(false);
});

test('what is thrown and no HubError is a defect, with what it was as the cause', () => {
  const known = new HubError('USAGE', 'wrong');
  expect(toHubError(known)).toBe(known);
  const thrown = new TypeError('x is undefined');
  expect(toHubError(thrown)).toMatchObject({ code: 'INTERNAL', message: 'x is undefined', cause: thrown });
  expect(toHubError('text')).toMatchObject({ code: 'INTERNAL', message: 'text', cause: 'text' });
});
