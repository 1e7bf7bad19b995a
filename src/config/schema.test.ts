import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { configurationSchema } from './schema.ts';

test(verifies('config:schema', 'the committed schema is the one the code describes'), async () => {
  const text = `${JSON.stringify(configurationSchema(), undefined, 2)}\n`;
  await expect(text, 'out of date: run `npm run docs:schema`').toMatchFileSnapshot('../../quartermaster.schema.json');
});

test('every field is described', () => {
  expect(undescribed(configurationSchema(), '')).toEqual([]);
});

function undescribed(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, additionalProperties } = schema as {
    properties?: Record<string, { description?: string }>;
    additionalProperties?: unknown;
  };
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...(field.description === undefined ? [`${path}.${name}`] : []),
      ...undescribed(field, `${path}.${name}`),
    ]),
    ...undescribed(additionalProperties, `${path}.*`),
  ];
}
