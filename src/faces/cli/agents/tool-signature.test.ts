import { expect, test } from 'vitest';
import { argumentsOf, signatureOf, typeText } from './tool-signature.ts';

test('what must be given comes first in a signature', () => {
  const args = argumentsOf({
    type: 'object',
    properties: { note: { type: 'string' }, a: { type: 'number', description: 'The first' } },
    required: ['a'],
  });
  expect(args).toEqual([
    { name: 'a', type: 'number', required: true, description: 'The first' },
    { name: 'note', type: 'string', required: false, description: '' },
  ]);
  expect(signatureOf('add', args)).toBe('add(a, note?)');
  expect(signatureOf('ping', argumentsOf({ type: 'object' }))).toBe('ping()');
  expect(argumentsOf(undefined)).toEqual([]);
});

test.each([
  [{ type: 'string' }, 'string'],
  [{ type: 'string', format: 'uri' }, 'string (uri)'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ type: 'integer', default: 5 }, 'integer = 5'],
  [{ enum: ['a', 'b'] }, '"a" | "b"'],
  [{ const: 1 }, '1'],
  [{ type: 'array', items: { type: 'number' } }, 'number[]'],
  [{ type: 'array', items: { enum: [1, 2] } }, '(1 | 2)[]'],
  [{ type: 'array' }, 'any[]'],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
  [{ $ref: '#/$defs/Place' }, 'Place'],
  [{ enum: [1, 2, 3, 4, 5, 6, 7, 8, 9] }, '1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | …'],
  [{}, 'any'],
  [true, 'any'],
])('%j reads %s', (schema, text) => {
  expect(typeText(schema)).toBe(text);
});

test('a schema without end has an end here', () => {
  const schema: Record<string, unknown> = { type: 'array' };
  schema.items = schema;
  expect(typeText(schema)).toBe('any[][][][][]');
});
