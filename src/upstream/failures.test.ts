import { expect, test } from 'vitest';
import { HubError } from '../base/index.ts';
import {
  bodyOfType,
  cancelled,
  garbled,
  lostConnection,
  lostSession,
  queueFull,
  seconds,
  statusFailure,
  timedOut,
} from './failures.ts';

test('each way to fail has its own code, and says whether the server may have seen the request', () => {
  const failures = [
    lostConnection('files', 'its process exited', true),
    lostConnection('files', 'ECONNREFUSED', false),
    lostSession('files', 404),
    timedOut('files', 'tools/call', 60_000),
    garbled('files', 'a body of type text/html', 200),
    queueFull('files', 17_000_000),
    cancelled(new HubError('CANCELLED', 'gone'), true),
    statusFailure('files', 401, undefined),
    statusFailure('files', 403, undefined),
    statusFailure('files', 451, undefined),
    statusFailure('files', 429, '7'),
    statusFailure('files', 500, undefined),
  ];
  expect(failures.map(({ error, cause, sent }) => [error.code, cause, sent])).toEqual([
    ['UPSTREAM_LOST', 'connection', true],
    ['UPSTREAM_UNAVAILABLE', 'connection', false],
    ['UPSTREAM_UNAVAILABLE', 'session', false],
    ['UPSTREAM_TIMEOUT', 'gave-up', true],
    ['UPSTREAM_GARBLED', 'answer', true],
    ['OVERLOADED', 'answer', false],
    ['CANCELLED', 'gave-up', true],
    ['UPSTREAM_NEEDS_LOGIN', 'answer', true],
    ['UPSTREAM_FORBIDDEN', 'answer', true],
    ['UPSTREAM_FORBIDDEN', 'answer', true],
    ['UPSTREAM_THROTTLED', 'answer', true],
    ['UPSTREAM_FAILED', 'answer', true],
  ]);
});

test('every message names the server and every failure has a next step', () => {
  for (const { error } of [
    lostConnection('files', 'x', true),
    lostConnection('files', 'x', false),
    lostSession('files', 404),
    timedOut('files', 'tools/call', 1),
    garbled('files', 'x'),
    queueFull('files', 1),
    ...[302, 401, 403, 429, 500].map((status) => statusFailure('files', status, undefined)),
  ]) {
    expect(error.message).toContain('"files"');
    expect(error.hint).toMatch(/\.$/);
    expect(error.details.server).toBe('files');
  }
});

test.each([
  ['7', 7000],
  ['0', 0],
  ['0.5', 500],
  ['999999999', 86_400_000],
  ['-1', undefined],
  ['soon', undefined],
  ['', undefined],
  [' ', undefined],
  [undefined, undefined],
])('Retry-After: %j', (header, expected) => {
  const { details, hint } = statusFailure('files', 429, header).error;
  expect(details.retryAfterMs).toBe(expected);
  expect(hint).toBe(expected === undefined ? 'Slow down.' : `Try again in ${seconds(expected)}.`);
});

const answeredAt = 'Mon, 16 Nov 2026 05:00:00 GMT';

test.each([
  ['Mon, 16 Nov 2026 05:00:30 GMT', answeredAt, 30_000],
  ['Mon, 16 Nov 2026 04:59:00 GMT', answeredAt, 0],
  ['Tue, 16 Nov 2027 05:00:00 GMT', answeredAt, 86_400_000],
  // Nobody knows the clock of the server, and nearly anything could be taken for a date.
  ['Mon, 16 Nov 2026 05:00:30 GMT', undefined, undefined],
  ['Mon, 16 Nov 2026 05:00:30 GMT', 'now', undefined],
  ['2026-11-16', answeredAt, undefined],
  ['Mon, 99 Nov 2026 05:00:30 GMT', answeredAt, undefined],
])('Retry-After: %j in an answer of %j', (header, date, expected) => {
  expect(statusFailure('files', 429, header, date).error.details.retryAfterMs).toBe(expected);
});

test('a redirect says that the final URL is wanted', () => {
  const { error, httpStatus } = statusFailure('files', 302, undefined);
  expect(error.code).toBe('UPSTREAM_FAILED');
  expect(error.hint).toMatch(/configure the final URL/);
  expect(httpStatus).toBe(302);
});

test.each([
  ['text/html; charset=utf-8', 'a body of type text/html'],
  ['Application/JSON', 'a body of type application/json'],
  ['text/hunter2', 'a body of another type'],
  ['text/html hunter2', 'a body of another type'],
  ['', 'a body of unknown type'],
  [undefined, 'a body of unknown type'],
  [['text/html', 'hunter2'], 'a body of unknown type'],
])('content type %j is quoted only if it is well known', (contentType, text) => {
  expect(bodyOfType(contentType)).toBe(text);
});
