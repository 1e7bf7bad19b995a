import { expect, test } from 'vitest';
import { traceMembers } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const plain = `00-${traceId}-${parentId}-01`;

test('headers become members of _meta', () => {
  expect(traceMembers(plain, undefined)).toBe(`"traceparent":"${plain}"`);
  expect(traceMembers(` ${plain} `, 'a=1,b="2\\3"')).toBe(
    `"traceparent":"${plain}","tracestate":${JSON.stringify('a=1,b="2\\3"')}`,
  );
});

test('a later version may say more', () => {
  const later = `01-${traceId}-${parentId}-01-more`;
  expect(traceMembers(later, undefined)).toBe(`"traceparent":"${later}"`);
});

test.each([
  '',
  'garbage',
  plain.toUpperCase(),
  `${plain}-more`,
  `${plain}0`,
  `ff-${traceId}-${parentId}-01`,
  `00-${'0'.repeat(32)}-${parentId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId}-${parentId}`,
  `${plain}, ${plain}`,
  `01-${traceId}-${parentId}-01-"}`,
  `01-${traceId}-${parentId}-01-${'x'.repeat(300)}`,
])('%s says nothing', (header) => {
  expect(traceMembers(header, 'a=1')).toBe('');
});

test.each(['', 'x'.repeat(513), 'a=ü', 'a=1\r\nb: 2'])('a state that cannot be passed on is dropped', (state) => {
  expect(traceMembers(plain, state)).toBe(`"traceparent":"${plain}"`);
});
