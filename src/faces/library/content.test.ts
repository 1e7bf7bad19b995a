import { expect, test } from 'vitest';
import { joinedText, receivedContent, receivedContents } from './content.ts';

test.each([
  { type: 'text', text: 'hi' },
  { type: 'image', data: 'AA==', mimeType: 'image/png' },
  { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'file:///a', name: 'a', annotations: { priority: 1 } },
  { type: 'resource', resource: { uri: 'file:///a', text: 'a' }, _meta: {} },
])('$type content is passed on as it is', (content) => {
  expect(receivedContent(content)).toBe(content);
});

test.each([
  { type: 'text', text: 1 },
  { type: 'image', data: 'AA==' },
  { type: 'resource_link', uri: 'file:///a' },
  { type: 'resource', resource: 'file:///a' },
  { type: 'video', data: 'AA==' },
  { type: 'unknown', value: 'hi' },
  {},
  null,
  'hi',
])('%j is not content that MCP defines, and is handed over whole', (value) => {
  expect(receivedContent(value)).toEqual({ type: 'unknown', value });
});

test('the text of a result is that of its text blocks', () => {
  const image = { type: 'image', data: '', mimeType: 'image/png' };
  const contents = receivedContents([{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b\n' }, 7]);
  expect(joinedText(contents)).toBe('a\nb\n');
  expect(joinedText(receivedContents([image]))).toBe('');
  expect(receivedContents(undefined)).toEqual([]);
});
