import { expect, test } from 'vitest';
import { mapErrorStrings, mapResultStrings, type ResultString } from './result-texts.ts';

function kindsIn(value: object): Record<string, ResultString> {
  const kinds: Record<string, ResultString> = {};
  mapResultStrings({ text: JSON.stringify(value), value: {} }, (text, kind) => {
    kinds[text] = kind;
    return text;
  });
  return kinds;
}

test('texts that a model sees are told apart from data, and what programs go by is left out', () => {
  const content = [
    { type: 'text', text: 'block', annotations: { audience: ['user'] } },
    { type: 'image', data: 'aW1hZ2U=', mimeType: 'image/png' },
    { type: 'resource_link', uri: 'file:///a', name: 'name', description: 'description' },
    { type: 'resource', resource: { uri: 'file:///b', mimeType: 'text/plain', text: 'embedded', blob: 'YQ==' } },
    { type: 'resource', resource: { text: 'interface', uri: 'ui://app/page' } },
  ];
  expect(
    kindsIn({ content, structuredContent: { text: 'structured', list: [{ data: 'deep' }] }, _meta: { a: 'meta' } }),
  ).toEqual({
    block: 'text',
    user: 'data',
    name: 'data',
    description: 'data',
    embedded: 'text',
    interface: 'data',
    structured: 'data',
    deep: 'data',
    meta: 'data',
  });
  expect(kindsIn({ contents: [{ uri: 'u', text: 'page' }], resultType: 'complete', requestState: 'state' })).toEqual({
    page: 'text',
  });
  const messages = [
    { role: 'user', content: { type: 'text', text: 'one' } },
    { role: 'user', content: [{ type: 'text', text: 'two' }] },
  ];
  expect(kindsIn({ messages, description: 'about' })).toEqual({ one: 'text', two: 'text' });
  expect(kindsIn({ resultType: 'complete', result: { content: [{ type: 'text', text: 'task' }] } })).toEqual({
    task: 'text',
  });
});

test('what does not change keeps its spelling, and a result without changes is the same object', () => {
  const text = '{"content":[{"type":"text","text":"a b"}],"structuredContent":{"n":12345678901234567890,"e":1.0}}';
  const result = { text, value: {} };
  expect(mapResultStrings(result, (each) => each)).toBe(result);
  const changed = mapResultStrings(result, (each) => each.replace('b', '"c"'));
  expect(changed.text).toBe(text.replace('a b', 'a \\"c\\"'));
  expect(Reflect.get(changed.value, 'content')).toEqual([{ type: 'text', text: 'a "c"' }]);
});

test('every string of an error is data', () => {
  expect(mapErrorStrings('{"code":-1,"message":"a","data":{"uri":"a"}}', (text) => `${text}!`)).toBe(
    '{"code":-1,"message":"a!","data":{"uri":"a!"}}',
  );
});
