import { expect, test } from 'vitest';
import { contentLines } from './content-text.ts';

test('text is shown as it is, everything else by what it is', () => {
  const content = [
    { type: 'text', text: 'one\ntwo' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'resource_link', uri: 'file:///a' },
    { type: 'resource', resource: { uri: 'file:///b', text: 'inside' } },
    { type: 'resource', resource: { uri: 'file:///c', blob: 'AAAA' } },
    { type: 'new-kind' },
  ];
  expect(contentLines({ content })).toEqual([
    'one\ntwo',
    '[image image/png, 3 bytes]',
    '[resource file:///a]',
    'inside',
    '[resource file:///c]',
    '[new-kind]',
  ]);
});

test('structured content stands in where there is nothing else', () => {
  expect(contentLines({ content: [], structuredContent: { a: 1 } })).toEqual(['{\n  "a": 1\n}']);
  expect(contentLines({ content: [{ type: 'text', text: 'x' }], structuredContent: { a: 1 } })).toEqual(['x']);
  expect(contentLines({})).toEqual([]);
});
