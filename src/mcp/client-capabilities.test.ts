import { isSpecType } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject } from '../base/index.ts';
import { clientCapabilitiesOf, noClientCapabilities } from './client-capabilities.ts';
import { uiExtension } from './ui/ui-extension.ts';

const form = { message: 'Who?', requestedSchema: {} };
const url = { mode: 'url', message: 'Go', url: 'https://example.org' };
const plain = { messages: [], maxTokens: 1 };
const withTools = { ...plain, tools: [] };

const serverRequests: readonly (readonly [name: string, method: string, params: Record<string, unknown>])[] = [
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
  const clientCapabilities = clientCapabilitiesOf(declared);
  expect(
    serverRequests.filter(([, method, params]) => clientCapabilities.canAnswer(method, params)).map(([name]) => name),
  ).toEqual(expected);
});

test('a client that did not declare context is asked all the same: it may leave the context out', () => {
  const params = { ...plain, includeContext: 'thisServer' };
  expect(clientCapabilitiesOf({ sampling: {} }).canAnswer('sampling/createMessage', params)).toBe(true);
});

test('a missing capability is named as a client would declare it', () => {
  const missing = (declared: unknown): unknown[] =>
    serverRequests.map(([, method, params]) => clientCapabilitiesOf(declared).missingFor(method, params));
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
  const all = clientCapabilitiesOf({
    elicitation: { form: {}, url: {}, voice: {} },
    sampling: { tools: {} },
    roots: {},
  });
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

test('only what the protocol defines in these three capabilities travels on', () => {
  const declared = {
    roots: { listChanged: true },
    elicitation: { url: {}, form: { applyDefaults: true } },
    sampling: { tools: { more: 'x' }, later: { a: [1] } },
    experimental: { secret: {} },
    tasks: {},
    extensions: { x: {} },
  };
  expect(clientCapabilitiesOf(declared).text).toBe(
    '{"elicitation":{"form":{"applyDefaults":true},"url":{}},"roots":{"listChanged":true},"sampling":{"tools":{}}}',
  );
  expect(clientCapabilitiesOf(declared).nothing).toBe(false);
});

test('however much is declared, little is kept', () => {
  const much = 'x'.repeat(1_000_000);
  const types = Array.from({ length: 1000 }, () => 'a'.repeat(100));
  const { text } = clientCapabilitiesOf({
    elicitation: { [much]: {}, form: { [much]: much, applyDefaults: much }, url: { much } },
    sampling: { tools: { much }, context: { much }, much },
    roots: { listChanged: true, much },
    extensions: { [uiExtension]: { mimeTypes: types, much }, much },
  });
  expect(text.length).toBeLessThan(4096);
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
  expect(clientCapabilitiesOf(declared)).toMatchObject({ text: '{}', nothing: true });
  for (const [, method, params] of serverRequests)
    expect(clientCapabilitiesOf(declared).canAnswer(method, params)).toBe(false);
});

test('garbage inside a capability counts as not declared', () => {
  expect(clientCapabilitiesOf({ elicitation: { url: true, form: null } }).text).toBe('{"elicitation":{}}');
  expect(clientCapabilitiesOf({ sampling: { tools: 1, context: 'x' } }).text).toBe('{"sampling":{}}');
  expect(clientCapabilitiesOf({ roots: { listChanged: 'yes' } }).text).toBe('{"roots":{}}');
});

test('the constant for nothing is what an empty declaration gives', () => {
  expect(noClientCapabilities).toMatchObject({ text: '{}', nothing: true });
  expect(noClientCapabilities.missingFor('roots/list', {})).toEqual({ roots: {} });
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
      const clientCapabilities = clientCapabilitiesOf(declared);
      const passedOn: unknown = JSON.parse(clientCapabilities.text);
      expect(isSpecType.ClientCapabilities(passedOn)).toBe(true);
      expect(clientCapabilities.nothing).toBe(isJsonObject(passedOn) && Object.keys(passedOn).length === 0);
      const again = clientCapabilitiesOf(passedOn);
      expect(again.text).toBe(clientCapabilities.text);
      for (const [, method, params] of serverRequests) {
        const answer = clientCapabilities.canAnswer(method, params);
        expect(again.canAnswer(method, params)).toBe(answer);
        expect(Object.keys(clientCapabilities.missingFor(method, params)).length === 0).toBe(answer);
      }
    }),
  );
});
