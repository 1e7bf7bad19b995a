import { expect, test } from 'vitest';
import { legacyToolText } from './legacy-tools.ts';

test('what a tool returns may only be described as an object in the legacy era', () => {
  const tool = (outputSchema: unknown): string => JSON.stringify({ name: 'a', outputSchema, title: 'A' });
  expect(legacyToolText(tool({ type: 'object', properties: {} }))).toBe(tool({ type: 'object', properties: {} }));
  for (const schema of [{ type: 'array' }, { type: ['object', 'null'] }, {}, true, { $ref: '#/$defs/a' }]) {
    expect(legacyToolText(tool(schema))).toBe('{"name":"a","title":"A"}');
  }
  const words = '{"name":"a","description":"its \\"outputSchema\\" is a word"}';
  expect(legacyToolText(words)).toBe(words);
});
