import { expect, test } from 'vitest';
import { argumentsFromJson, argumentsFromPairs, readPairs } from './tool-arguments.ts';

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    share: { type: 'number' },
    on: { type: 'boolean' },
    list: { type: 'array' },
    map: { type: 'object' },
    either: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    loose: { type: ['string', 'number'] },
    anything: {},
  },
};

test('values become what the schema of the tool says', () => {
  const pairs = readPairs([
    'text=1',
    'count=12345678901234567890',
    'share=1.50',
    'on=true',
    'list=[1, 2]',
    'map={"a":1}',
    'either=null',
    'loose=1',
    'anything=true',
    'unknown=1',
    'raw:={"x": [1]}',
    'empty=',
  ]);
  expect(argumentsFromPairs(pairs, schema).text).toBe(
    '{"text":"1","count":12345678901234567890,"share":1.50,"on":true,"list":[1, 2],"map":{"a":1},"either":null,' +
      '"loose":"1","anything":"true","unknown":"1","raw":{"x": [1]},"empty":""}',
  );
});

test.each([
  ['count=1.5', '"count" must be of type integer'],
  ['on=yes', '"on" must be of type boolean'],
  ['list={}', '"list" must be of type array'],
  ['either=x', '"either" must be of type number or null'],
  ['raw:=x', 'The value of "raw" is not valid JSON'],
])('%s is refused', (word, message) => {
  expect(() => argumentsFromPairs(readPairs([word]), schema)).toThrow(message);
});

test('words that are no arguments, and repeated ones, are refused', () => {
  expect(() => readPairs(['text'])).toThrow('"text" is not an argument');
  expect(() => readPairs(['=x'])).toThrow('is not an argument');
  expect(() => readPairs([':=x'])).toThrow('is not an argument');
  expect(() => readPairs(['a=1', 'a:=2'])).toThrow('"a" is given twice');
});

test('JSON is kept as it is written, and must be one object without repeated keys', () => {
  expect(argumentsFromJson(' {"n": 1e400, "b":12345678901234567890 }\n').text).toBe(
    '{"n": 1e400, "b":12345678901234567890 }',
  );
  for (const text of ['', '[]', 'null', '"x"', '{', '{}}{']) {
    expect(() => argumentsFromJson(text), text).toThrow('must be a JSON object');
  }
  expect(() => argumentsFromJson('{"a":{"b":1,"b":2}}')).toThrow('appears twice');
  expect(() => argumentsFromJson(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)).toThrow('nested deeper');
});

test('a key that JavaScript knows is an ordinary key', () => {
  expect(argumentsFromPairs(readPairs(['constructor=1', '__proto__=2']), schema).text).toBe(
    '{"constructor":"1","__proto__":"2"}',
  );
});
