import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HubError, isJsonObject } from '../../base/index.ts';
import { renameContents } from './content-uris.ts';

const rename = (uri: string): string => `<${uri}>`;

function renamed(text: string): string {
  return renameContents({ text, value: JSON.parse(text) as Record<string, unknown> }, rename).text;
}

test('the URIs of the parts change and nothing else', () => {
  expect(renamed('{"n":1e400, "contents" :[ {"text":"uri","uri" : "a\\u0062"},{"uri":1},3,{} ],"uri":"c"}')).toBe(
    '{"n":1e400, "contents" :[ {"text":"uri","uri" : "<ab>"},{"uri":1},3,{} ],"uri":"c"}',
  );
  for (const text of ['{}', '{"contents":{"uri":"a"}}', '{"contents":[[{"uri":"a"}],{"x":{"uri":"a"}}]}']) {
    expect(renamed(text)).toBe(text);
  }
});

test('whatever is read, it is as if the value had been parsed and changed', () => {
  const part = fc.oneof(fc.jsonValue(), fc.record({ uri: fc.string(), text: fc.string(), x: fc.jsonValue() }));
  fc.assert(
    fc.property(fc.record({ contents: fc.array(part), other: fc.jsonValue() }), (value) => {
      const contents = value.contents.map((item) =>
        isJsonObject(item) && typeof item.uri === 'string' ? { ...item, uri: rename(item.uri) } : item,
      );
      expect(JSON.parse(renamed(JSON.stringify(value)))).toEqual(JSON.parse(JSON.stringify({ ...value, contents })));
    }),
  );
});

test('parts and their members are bounded', () => {
  expect(() => renamed(`{"contents":[${'{},'.repeat(10_000)}{}]}`)).toThrow(HubError);
  expect(() => renamed(`{"contents":[{${'"a":0,'.repeat(1000)}"uri":"x"}]}`)).toThrow(HubError);
  const large = `{"contents":[{"uri":"a","blob":"${'x'.repeat(1_000_000)}"}],"_meta":{"a":[${'[],'.repeat(50_000)}1]}}`;
  expect(renamed(large)).toBe(large.replace('"uri":"a"', '"uri":"<a>"'));
});
