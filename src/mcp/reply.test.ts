import { expect, test } from 'vitest';
import { HubError } from '../base/index.ts';
import { errorReply, notification, rawErrorReply, resultReply } from './reply.ts';

test('answers are spliced from text, so that ids and results return unchanged', () => {
  expect(resultReply('12345678901234567890', '{"n":1.10}')).toBe(
    '{"jsonrpc":"2.0","id":12345678901234567890,"result":{"n":1.10}}',
  );
  expect(rawErrorReply('"a"', '{"code":1,"message":"no"}')).toBe(
    '{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"no"}}',
  );
});

test('a failure of the hub says its code, whether trying again may help, and what to do next', () => {
  const error = new HubError('OVERLOADED', 'Too many "calls".', {
    hint: 'Wait.',
    cause: new Error('not for the caller'),
    details: { server: 'files', retryAfterMs: 5 },
  });
  expect(JSON.parse(errorReply('null', error))).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: {
      code: -31008,
      message: 'Too many "calls". Wait.',
      data: { code: 'OVERLOADED', retryable: true, server: 'files', retryAfterMs: 5 },
    },
  });
});

test('a notification has params only when there are some', () => {
  expect(notification('x')).toBe('{"jsonrpc":"2.0","method":"x"}');
  expect(notification('x', { a: 'b\n' })).toBe('{"jsonrpc":"2.0","method":"x","params":{"a":"b\\n"}}');
});
