import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { eventSchema } from '../src/faces/api/index.ts';

const page = readFileSync(join(resolve(import.meta.dirname, '..'), 'docs', 'api.md'), 'utf8');

test('the page names each event of the API with its fields', () => {
  const rows = [...page.matchAll(/^\| `([\w.]+)` \| ([^|]*) \|/gm)].map(([, type, fields = '']) => [
    type,
    [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field).sort(),
  ]);
  const common = ['type', 'time', 'project'];
  const events = eventSchema.options.map(({ shape }) => [
    shape.type.value,
    Object.keys(shape)
      .filter((field) => !common.includes(field))
      .sort(),
  ]);
  expect(rows.sort()).toEqual(events.sort());
});
