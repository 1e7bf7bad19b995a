import { expect, test } from 'vitest';
import { type Message, readBody } from './message.ts';
import { inTrace } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const plain = `00-${traceId}-${parentId}-01`;

function request(params: string): Message {
  const [message] = readBody(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`).messages;
  if (message === undefined) throw new Error('no message');
  return message;
}

test('trace headers are forwarded in _meta', () => {
  expect(inTrace(request('{"name":"a"}'), plain, undefined)).toEqual(
    request(`{"name":"a","_meta":{"traceparent":"${plain}"}}`),
  );
  expect(inTrace(request('{"_meta":{"b":1}}'), plain, 'a=1,b="2"')).toEqual(
    request(`{"_meta":{"b":1,"traceparent":"${plain}","tracestate":"a=1,b=\\"2\\""}}`),
  );
});

test('a later version may say more', () => {
  const later = `01-${traceId}-${parentId}-01-more`;
  expect(inTrace(request('{}'), later, undefined)).toEqual(request(`{"_meta":{"traceparent":"${later}"}}`));
});

test.each(['{"_meta":{"traceparent":"own"}}', '{"_meta":{"traceparent":null}}', '{"_meta":7}'])(
  '%s stays as it is',
  (params) => {
    const message = request(params);
    expect(inTrace(message, plain, 'a=1')).toBe(message);
  },
);

test('only requests belong to a trace', () => {
  const [message] = readBody('{"jsonrpc":"2.0","method":"notifications/cancelled"}').messages;
  expect(message && inTrace(message, plain, undefined)).toBe(message);
});

test.each([
  '',
  'garbage',
  plain.toUpperCase(),
  `${plain}-more`,
  `${plain}0`,
  `${plain}\r\n`,
  `ff-${traceId}-${parentId}-01`,
  `00-${'0'.repeat(32)}-${parentId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId}-${parentId}`,
  `${plain}, ${plain}`,
  `01-${traceId}-${parentId}-01-${'x'.repeat(300)}`,
])('%j says nothing', (header) => {
  const message = request('{}');
  expect(inTrace(message, header, 'a=1')).toBe(message);
});

test.each(['', 'x'.repeat(513), 'a=ü', 'a=1\r\nb: 2'])('a state that cannot be passed on is dropped', (state) => {
  expect(inTrace(request('{}'), plain, state)).toEqual(request(`{"_meta":{"traceparent":"${plain}"}}`));
});
