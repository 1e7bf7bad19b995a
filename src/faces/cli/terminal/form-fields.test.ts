import { expect, test } from 'vitest';
import { formFieldsOf } from './form-fields.ts';

const schema = {
  type: 'object',
  properties: {
    mail: { type: 'string', title: 'E-mail\u001b[2J', description: 'Where to', format: 'email' },
    short: { type: 'string', minLength: 2, maxLength: 3, default: 'ab' },
    age: { type: 'integer', minimum: 18 },
    share: { type: 'number', minimum: 0, maximum: 1 },
    sure: { type: 'boolean' },
    size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] },
    colour: { oneOf: [{ const: '#f00', title: 'Red' }] },
    toppings: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: { anyOf: ['a', 'b', 'c'].map((value) => ({ const: value })) },
    },
    odd: 7,
  },
  required: ['mail', 'toppings'],
};

test('a form is read as its schema says', () => {
  const fields = formFieldsOf(schema);
  expect(fields.map(({ name, wanted, required }) => [name, wanted, required])).toEqual([
    ['mail', 'email', true],
    ['short', 'text of 2 to 3 characters', false],
    ['age', 'integer 18 or more', false],
    ['share', 'number 0 to 1', false],
    ['sure', 'yes or no', false],
    ['size', 'one of these', false],
    ['colour', 'one of these', false],
    ['toppings', 'some of these, with commas', true],
    ['odd', 'text', false],
  ]);
  expect(fields[0]).toMatchObject({ title: 'E-mail␛[2J', description: 'Where to', byDefault: undefined });
  expect(fields[1]).toMatchObject({ byDefault: 'ab' });
  expect(fields[5]?.choices.map(({ title }) => title)).toEqual(['Small', 'Large']);
  expect(formFieldsOf('nothing')).toEqual([]);
});

test.each([
  ['mail', 'a@b.c', 'a@b.c'],
  ['short', 'x', undefined],
  ['short', 'abcd', undefined],
  ['age', '21', 21],
  ['age', '17', undefined],
  ['age', '1.5', undefined],
  ['age', 'old', undefined],
  ['share', '0.5', 0.5],
  ['share', '2', undefined],
  ['sure', 'Yes', true],
  ['sure', 'n', false],
  ['sure', 'maybe', undefined],
  ['size', '2', 'l'],
  ['size', 'Small', 's'],
  ['size', '3', undefined],
  ['size', '0', undefined],
  ['colour', 'Red', '#f00'],
  ['toppings', '1, c,1', ['a', 'c']],
  ['toppings', '1,2,3', undefined],
  ['toppings', ',', undefined],
  ['toppings', '9', undefined],
])('%s takes %s', (name, text, value) => {
  const read = formFieldsOf(schema)
    .find((field) => field.name === name)
    ?.read(text);
  if (value === undefined) expect(read).toMatchObject({ ok: false, complaint: expect.stringMatching(/\.$/) });
  else expect(read).toEqual({ ok: true, value });
});
