import { expect, test } from 'vitest';
import { HubError } from '../../base/index.ts';
import type { CallResult } from '../../calls/index.ts';
import { operationAnswer } from './answer-text.ts';

function resultOf(text: string): CallResult {
  return { kind: 'result', result: { kind: 'result', id: 1, text, value: JSON.parse(text) } };
}

test.each([
  ['5000', 5000],
  ['1.5', 1.5],
  ['-1', 0],
  ['1e999', 0],
  ['1e21', 1e21],
  ['"long"', 0],
  ['null', 0],
])('what was read with ttlMs %s may be kept for %d ms, by its reader alone', (ttlMs, kept) => {
  const text = `{"contents":[],"ttlMs":${ttlMs},"cacheScope":"public"}`;
  expect(JSON.parse(operationAnswer('1', 'resource', resultOf(text), 'modern')).result).toEqual({
    resultType: 'complete',
    contents: [],
    ttlMs: kept,
    cacheScope: 'private',
  });
  expect(operationAnswer('1', 'resource', resultOf(text), 'legacy')).toBe(`{"jsonrpc":"2.0","id":1,"result":${text}}`);
});

test('a server request in place of a result is not cached', () => {
  const text = '{"resultType":"input_required","inputRequests":{}}';
  expect(JSON.parse(operationAnswer('1', 'resource', resultOf(text), 'modern')).result).toEqual(JSON.parse(text));
});

test('a subscription has nothing to tell, whatever its server says', () => {
  expect(operationAnswer('"a"', 'subscription', resultOf('{"secret":1}'), 'legacy')).toBe(
    '{"jsonrpc":"2.0","id":"a","result":{}}',
  );
});

test('a resource that is not there has the code of the era', () => {
  const failed: CallResult = { kind: 'failed', error: new HubError('RESOURCE_UNKNOWN', 'Unknown resource.') };
  expect(JSON.parse(operationAnswer('1', 'resource', failed, 'legacy')).error.code).toBe(-32002);
  expect(JSON.parse(operationAnswer('1', 'resource', failed, 'modern')).error.code).toBe(-32602);
});

test("a server's own error goes on as it was written", () => {
  const text = '{"code":-32000,"message":"bad day","data":{"n":9007199254740993}}';
  const outcome: CallResult = { kind: 'error', text, code: -32000, message: 'bad day' };
  for (const era of ['legacy', 'modern'] as const) {
    expect(operationAnswer('7', 'tool', outcome, era)).toBe(`{"jsonrpc":"2.0","id":7,"error":${text}}`);
  }
});
