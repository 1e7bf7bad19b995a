import { isSpecType } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject } from '../base/index.ts';
import { askableNothing, askableOf } from './client-capabilities.ts';

const form = { message: 'Who?', requestedSchema: {} };
const url = { mode: 'url', message: 'Go', url: 'https://example.org' };
const plain = { messages: [], maxTokens: 1 };
const withTools = { ...plain, tools: [] };

const questions: readonly (readonly [name: string, method: string, params: Record<string, unknown>])[] = [
  ['form', 'elicitation/create', form],
  ['mode form', 'elicitation/create', { ...form, mode: 'form' }],
  ['url', 'elicitation/create', url],
  ['sampling', 'sampling/createMessage', plain],
  ['tools', 'sampling/createMessage', withTools],
  ['toolChoice', 'sampling/createMessage', { ...plain, toolChoice: { mode: 'auto' } }],
  ['roots', 'roots/list', {}],
];

test.each<[unknown, string[]]>([
  [{}, []],
  [{ elicitation: {} }, ['form', 'mode form']],
  [{ elicitation: { form: {} } }, ['form', 'mode form']],
  [{ elicitation: { url: {} } }, ['url']],
  [{ elicitation: { form: {}, url: {} } }, ['form', 'mode form', 'url']],
  [{ elicitation: { later: {} } }, ['form', 'mode form']],
  [{ sampling: {} }, ['sampling']],
  [{ sampling: { context: {} } }, ['sampling']],
  [{ sampling: { tools: {} } }, ['sampling', 'tools', 'toolChoice']],
  [{ roots: {} }, ['roots']],
  [{ roots: { listChanged: true }, sampling: {} }, ['sampling', 'roots']],
])('%j can be asked: %j', (declared, expected) => {
  const askable = askableOf(declared);
  expect(questions.filter(([, method, params]) => askable.canAnswer(method, params)).map(([name]) => name)).toEqual(
    expected,
  );
});

test('a client that did not declare context is asked all the same: it may leave the context out', () => {
  const params = { ...plain, includeContext: 'thisServer' };
  expect(askableOf({ sampling: {} }).canAnswer('sampling/createMessage', params)).toBe(true);
});

test('what is missing is named as a client would declare it', () => {
  const missing = (declared: unknown): unknown[] =>
    questions.map(([, method, params]) => askableOf(declared).missingFor(method, params));
  const ofForm = { elicitation: { form: {} } };
  const ofUrl = { elicitation: { url: {} } };
  const ofTools = { sampling: { tools: {} } };
  expect(missing({})).toEqual([ofForm, ofForm, ofUrl, { sampling: {} }, ofTools, ofTools, { roots: {} }]);
  expect(missing({ elicitation: { url: {} }, sampling: {} })).toEqual([
    ofForm,
    ofForm,
    {},
    {},
    ofTools,
    ofTools,
    { roots: {} },
  ]);
});

test('other methods and unknown modes are put to nobody, and no capability would change that', () => {
  const all = askableOf({ elicitation: { form: {}, url: {}, voice: {} }, sampling: { tools: {} }, roots: {} });
  for (const [method, params] of [
    ['elicitation/create', { mode: 'voice' }],
    ['elicitation/create', { mode: 7 }],
    ['ping', {}],
    ['tools/call', {}],
    ['constructor', {}],
  ] as const) {
    expect(all.canAnswer(method, params)).toBe(false);
    expect(all.missingFor(method, params)).toEqual({});
  }
});

test('only these three capabilities travel on, with all that was declared inside', () => {
  const declared = {
    roots: { listChanged: true },
    elicitation: { url: {}, form: { applyDefaults: true } },
    sampling: { tools: {}, later: { a: [1] } },
    experimental: { secret: {} },
    tasks: {},
    extensions: { x: {} },
  };
  expect(askableOf(declared).text).toBe(
    '{"elicitation":{"form":{"applyDefaults":true},"url":{}},"roots":{"listChanged":true},"sampling":{"later":{"a":[1]},"tools":{}}}',
  );
  expect(askableOf(declared).nothing).toBe(false);
});

test.each<unknown>([
  undefined,
  null,
  'elicitation',
  7,
  [],
  [{ elicitation: {} }],
  {},
  { elicitation: true, sampling: [], roots: null },
  { Elicitation: {} },
  Object.create({ elicitation: {} }),
])('nothing can be asked of %j', (declared) => {
  expect(askableOf(declared)).toMatchObject({ text: '{}', nothing: true });
  for (const [, method, params] of questions) expect(askableOf(declared).canAnswer(method, params)).toBe(false);
});

test('garbage inside a capability counts as not declared', () => {
  expect(askableOf({ elicitation: { url: true, form: null } }).text).toBe('{"elicitation":{}}');
  expect(askableOf({ sampling: { tools: 1, context: 'x' } }).text).toBe('{"sampling":{}}');
  expect(askableOf({ roots: { listChanged: 'yes' } }).text).toBe('{"roots":{}}');
});

test('the constant for nothing is what an empty declaration gives', () => {
  expect(askableNothing).toMatchObject({ text: '{}', nothing: true });
  expect(askableNothing.missingFor('roots/list', {})).toEqual({ roots: {} });
});

const anything = fc.oneof(fc.constant({}), fc.jsonValue({ maxDepth: 2 }));
const someDeclaration = fc.record(
  {
    elicitation: fc.oneof(anything, fc.record({ form: anything, url: anything }, { requiredKeys: [] })),
    sampling: fc.oneof(anything, fc.record({ tools: anything, context: anything }, { requiredKeys: [] })),
    roots: fc.oneof(anything, fc.record({ listChanged: anything }, { requiredKeys: [] })),
    experimental: anything,
  },
  { requiredKeys: [] },
);

test('whatever is declared, what travels on is a valid declaration that means the same', () => {
  fc.assert(
    fc.property(fc.oneof(someDeclaration, fc.jsonValue()), (declared) => {
      const askable = askableOf(declared);
      const passedOn: unknown = JSON.parse(askable.text);
      expect(isSpecType.ClientCapabilities(passedOn)).toBe(true);
      expect(askable.nothing).toBe(isJsonObject(passedOn) && Object.keys(passedOn).length === 0);
      const again = askableOf(passedOn);
      expect(again.text).toBe(askable.text);
      for (const [, method, params] of questions) {
        const answer = askable.canAnswer(method, params);
        expect(again.canAnswer(method, params)).toBe(answer);
        expect(Object.keys(askable.missingFor(method, params)).length === 0).toBe(answer);
      }
    }),
  );
});
