import { expect, test } from 'vitest';
import { readBody } from '../../mcp/index.ts';
import { type ClientHandlers, channelOf, isOperation, operationOf, type Request } from './operations.ts';

function requestOf(method: string, paramsText: string): Request {
  const [message] = readBody(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${paramsText}}`).messages;
  if (message?.kind !== 'request') throw new Error('no request');
  return message;
}

test.each([
  ['tools/call', '{"name":"x"}', { kind: 'tool', name: 'x', argumentsText: '{}', args: {} }],
  ['tools/call', '{"name":"x","arguments":null}', { kind: 'tool', name: 'x', argumentsText: '{}', args: {} }],
  ['prompts/get', '{"name":"p","arguments":{"a": "1"}}', { kind: 'prompt', name: 'p', argumentsText: '{"a": "1"}' }],
  ['resources/read', '{"uri":"a:b"}', { kind: 'resource', name: 'a:b', argumentsText: '{"uri":"a:b"}' }],
  ['resources/subscribe', '{"uri":"a:b","extra":1}', { kind: 'subscription', args: { uri: 'a:b' } }],
  [
    'completion/complete',
    '{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}',
    { kind: 'completion', name: 'prompt:p', args: { argument: { name: 'a', value: 'v' } } },
  ],
  [
    'completion/complete',
    '{"ref":{"type":"ref/resource","uri":"a:{b}"},"argument":{},"context":{"arguments":{}}}',
    { kind: 'completion', name: 'resource:a:{b}', args: { argument: {}, context: { arguments: {} } } },
  ],
])('%s of %s', (method, params, expected) => {
  expect(isOperation(method)).toBe(true);
  expect(operationOf(requestOf(method, params))).toMatchObject(expected);
});

test.each([
  ['tools/call', '{}'],
  ['tools/call', '{"name":7}'],
  ['prompts/get', '{"name":null}'],
  ['resources/read', '{"uri":["a:b"]}'],
  ['resources/subscribe', '{}'],
  ['completion/complete', '{}'],
  ['completion/complete', '{"ref":{"type":"ref/prompt","name":7},"argument":{}}'],
  ['completion/complete', '{"ref":{"type":"ref/tool","name":"x"},"argument":{}}'],
  ['completion/complete', '{"ref":{"type":"ref/prompt","name":"p"},"argument":"x"}'],
])('%s of %s does not say on what', (method, params) => {
  expect(() => operationOf(requestOf(method, params))).toThrow(expect.objectContaining({ code: 'INVALID_PARAMS' }));
});

test.each(['__proto__', 'constructor', 'tools/list', ''])('%j is no operation', (method) => {
  expect(isOperation(method)).toBe(false);
  expect(() => operationOf(requestOf(method, '{}'))).toThrow(expect.objectContaining({ code: 'METHOD_NOT_FOUND' }));
});

test('a caller hears what it wants and what there is a way for; to be asked it needs none', () => {
  const sent: string[] = [];
  const between = (message: string): void => void sent.push(message);
  const nothing: ClientHandlers = { client: undefined, between: undefined, ask: undefined, log: undefined };
  const ask: ClientHandlers['ask'] = async () => ({ kind: 'result', text: '{}' });
  const wantsProgress = { _meta: { progressToken: 7 } };
  expect(channelOf({}, { ...nothing, between })).toBeUndefined();
  expect(channelOf(wantsProgress, { ...nothing, log: { level: 'info' } })).toBeUndefined();
  expect(channelOf(wantsProgress, { ...nothing, ask })).toEqual({ ask });
  const whole = channelOf(wantsProgress, { client: undefined, between, ask, log: { level: 'info' } });
  whole?.progress?.({ progress: 1, progressToken: 'of the server' });
  whole?.log?.send({ level: 'info', data: 'x' });
  expect(sent.map((text) => JSON.parse(text).params)).toEqual([
    { progress: 1, progressToken: 7 },
    { level: 'info', data: 'x' },
  ]);
});
