import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { type ErrorCode, HubError } from '../base/index.ts';
import {
  anyTree,
  choices,
  depthOf,
  meaningOf,
  objectTree,
  spell,
  spellMember,
  spellString,
} from './json/json-text.fixture.ts';
import { oneLine } from './json/one-line.ts';
import { type Message, maxBatch, maxInboundKeys, readBody } from './message.ts';

test('a request gives back its id and its arguments as they were written, on one line, and parsed as JSON.parse does', () => {
  const ids = fc.oneof(
    fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value)),
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  );
  fc.assert(
    fc.property(ids, fc.string(), objectTree, choices, (idText, method, args, choose) => {
      const argumentsText = spell(args, choose);
      const params = `{${spellMember('arguments', argumentsText, choose)},${spellMember('name', '"x"', choose)}}`;
      const members = [
        spellMember('jsonrpc', '"2.0"', choose),
        spellMember('id', idText, choose),
        spellMember('method', spellString(method, choose), choose),
        spellMember('params', params, choose),
      ];
      const text = ` {${rotated(members, choose(4)).join(',')}}\n`;
      expect(readBody(text)).toEqual({
        batch: false,
        heldBytes: 0,
        messages: [
          {
            kind: 'request',
            idText,
            id: JSON.parse(idText),
            method,
            params: { arguments: meaningOf(args), name: 'x' },
            argumentsText: oneLine(argumentsText),
            heldBytes: 0,
          },
        ],
      });
    }),
  );
});

test.each([
  ['1', 1],
  ['-7', -7],
  ['-0', -0],
  ['1e3', 1000],
  ['1.0', 1],
  ['"1"', '1'],
  ['""', ''],
  ['"\\u0061"', 'a'],
  ['9007199254740993', 9007199254740992],
  ['123456789012345678901234567890', 1.2345678901234568e29],
])('id %s is kept as text', (idText, id) => {
  expect(single(`{"jsonrpc":"2.0","id":${idText},"method":"ping"}`)).toMatchObject({ kind: 'request', idText, id });
});

test.each(['1.5', 'null', 'true', 'false', '{}', '[]', '[1]', '1e400', '-1e400'])('id %s is refused', (idText) => {
  const reason = '"id" must be a string or an integer';
  expect(single(`{"jsonrpc":"2.0","id":${idText},"method":"ping"}`)).toEqual({ kind: 'invalid', reason });
  expect(single(`{"jsonrpc":"2.0","id":${idText},"result":{}}`)).toEqual({ kind: 'invalid', reason });
});

test.each([
  ['{"jsonrpc":"2.0","method":"notifications/initialized"}', 'notification'],
  ['{"jsonrpc":"2.0","method":"x","params":{"a":1}}', 'notification'],
  ['{"jsonrpc":"2.0","id":1,"result":{}}', 'response'],
  ['{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"x"}}', 'response'],
  ['{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1}', 'invalid'],
  ['{"jsonrpc":"2.0","result":{}}', 'invalid'],
  ['{"jsonrpc":"2.0"}', 'invalid'],
  ['{"id":1,"method":"ping"}', 'invalid'],
  ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 'invalid'],
  ['{"jsonrpc":2.0,"id":1,"method":"ping"}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1,"method":5}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1,"method":null}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":0}', 'invalid'],
  ['"x"', 'invalid'],
  ['null', 'invalid'],
  ['7', 'invalid'],
  ['{}', 'invalid'],
])('%s is a %s', (text, kind) => {
  expect(single(text).kind).toBe(kind);
});

test('params that are null count as absent: some clients print what they do not have', () => {
  expect(single('{"jsonrpc":"2.0","id":1,"method":"ping","params":null}')).toMatchObject({ params: {} });
});

test.each(['{"name":"x"}', '{"name":"x","arguments":null}'])('params %s have no arguments', (params) => {
  const message = single(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
  expect(message).toMatchObject({ kind: 'request', argumentsText: undefined });
});

test.each(['[]', '"x"', '0', 'false', '[{"a":1}]'])('arguments that are %s keep their text too', (argumentsText) => {
  const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":${argumentsText}}}`;
  expect(single(text)).toMatchObject({ argumentsText, params: { arguments: JSON.parse(argumentsText) } });
});

test('only the arguments of the params are the arguments', () => {
  const text =
    '{"arguments":1,"jsonrpc":"2.0","id":1,"method":"tools/call","x":{"arguments":2},"params":{"_meta":{"arguments":3}}}';
  expect(single(text)).toMatchObject({ kind: 'request', argumentsText: undefined });
});

test('keys that mean something to JavaScript are keys like any other', () => {
  const args = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
  const text = `{"__proto__":{"id":5,"jsonrpc":"2.0"},"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{"arguments":{"no":1}},"arguments":${args}}}`;
  expect(single(text)).toMatchObject({ kind: 'request', id: 1, argumentsText: args });
  expect({}).not.toHaveProperty('polluted');
  expect(single('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ping"}}').kind).toBe('invalid');
  expect(single('{"jsonrpc":"2.0","id":1,"method":"x","params":{"__proto__":{"arguments":{}}}}')).toMatchObject({
    argumentsText: undefined,
  });
});

test(
  verifies('arguments:duplicate-keys', 'a repeated key is refused wherever it stands, also when spelled otherwise'),
  () => {
    const call = (args: string): string =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${args}}}`;
    expect(codeOf(call('{"path":"/tmp","path":"/etc"}'))).toBe('INVALID_REQUEST');
    expect(codeOf(call('{"path":"/tmp","p\\u0061th":"/etc"}'))).toBe('INVALID_REQUEST');
    expect(codeOf(call('{"a":[{"b":{"path":1,"x":2,"path":3}}]}'))).toBe('INVALID_REQUEST');
    expect(codeOf('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}')).toBe('INVALID_REQUEST');
    expect(codeOf('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"name":"a","name":"b"}}')).toBe('INVALID_REQUEST');
    expect(codeOf(`[${call('{}')},${call('{"a":1,"a":1}')}]`)).toBe('INVALID_REQUEST');
    expect(codeOf(call('{"a":{"a":1},"b":{"a":2}}'))).toBeUndefined();
  },
);

test('64 levels are read, 65 are too many, and megabytes of brackets end at the limit', () => {
  const around = 2; // the message and its params
  const nested = (depth: number): string =>
    `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${'['.repeat(depth - around)}${']'.repeat(depth - around)}}}`;
  expect(codeOf(nested(64))).toBeUndefined();
  expect(codeOf(nested(65))).toBe('REQUEST_TOO_LARGE');
  expect(codeOf('['.repeat(4_000_000))).toBe('REQUEST_TOO_LARGE');
  expect(codeOf('{"a":'.repeat(800_000))).toBe('REQUEST_TOO_LARGE');
});

test('a batch keeps the text of each of its messages', () => {
  const texts = [
    '{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/call","params":{"arguments":{ "n": 1.0 }}}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '17',
  ];
  expect(readBody(` [ ${texts.join(' ,\n')} ] `)).toEqual({
    batch: true,
    heldBytes: 0,
    messages: texts.map((text) => single(text)),
  });
  expect(readBody('[]')).toEqual({ batch: true, heldBytes: 0, messages: [] });
});

test('a batch is bounded', () => {
  const batch = (count: number): string => `[${Array(count).fill('{"jsonrpc":"2.0","id":1,"method":"ping"}').join()}]`;
  expect(readBody(batch(maxBatch)).messages).toHaveLength(maxBatch);
  expect(codeOf(batch(maxBatch + 1))).toBe('REQUEST_TOO_LARGE');
});

test('a message has a bounded number of keys, wherever they are', () => {
  const objects = (count: number): string => `[${Array(count).fill('{"a":1}').join()}]`;
  const call = (args: string): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":${args}}}`;
  expect(codeOf(call(`{"a":${objects(maxInboundKeys - 7)}}`))).toBeUndefined();
  expect(codeOf(call(`{"a":${objects(maxInboundKeys - 6)}}`))).toBe('REQUEST_TOO_LARGE');
  // Values without keys are bounded by the size of the message alone.
  expect(codeOf(call(`{"a":[${'1,'.repeat(2 * maxInboundKeys)}1]}`))).toBeUndefined();
});

test('a batch that is too long is not parsed', () => {
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (source: string) => {
    parsed++;
    return parse(source);
  };
  try {
    expect(codeOf(`[${'1,'.repeat(100_000)}1]`)).toBe('REQUEST_TOO_LARGE');
  } finally {
    JSON.parse = parse;
  }
  expect(parsed).toBe(0);
});

test.each([
  ['nothing', ''],
  ['blanks', ' \n'],
  ['a byte order mark', '\ufeff{}'],
  ['a comment', '{/**/}'],
  ['a bare word', '{"a":undefined}'],
  ['a capital', '{"a":True}'],
  ['NaN', '[NaN]'],
  ['a leading zero', '{"a":01}'],
  ['a plus', '{"a":+1}'],
  ['a bare fraction', '{"a":.5}'],
  ['a bare exponent', '{"a":1e}'],
  ['hexadecimal', '{"a":0x10}'],
  ['single quotes', "{'a':1}"],
  ['a raw newline in a string', '{"a":"b\nc"}'],
  ['a raw NUL in a string', '{"a":"\u0000"}'],
  ['a raw tab in a key', '{"a\tb":1}'],
  ['an unknown escape', '{"a":"\\q"}'],
  ['a short escape', '{"a":"\\u12"}'],
  ['a bad escape in a key', '{"\\u12g4":1}'],
  ['a trailing comma', '{"a":1,}'],
  ['two documents', '{}{}'],
  ['a non-breaking space', '{\u00a0"a":1}'],
  ['a quote inside a number', '{"a":1"b}'],
  ['a brace too many', '{}}'],
])('not JSON: %s', (_, text) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(codeOf(text)).toBe('PARSE_ERROR');
});

test('lone surrogates are text like any other', () => {
  expect(single('{"jsonrpc":"2.0","id":"\\ud800","method":"\ud800"}')).toMatchObject({
    id: '\ud800',
    idText: '"\\ud800"',
    method: '\ud800',
  });
});

test('whatever a text is, it is refused with a HubError exactly when JSON.parse refuses it', () => {
  fc.assert(
    fc.property(
      fc.oneof(objectTree, anyTree),
      choices,
      fc.nat(),
      fc.string({ maxLength: 3 }),
      fc.nat(3),
      (tree, choose, at, insert, drop) => {
        const text = spell(tree, choose);
        const place = at % (text.length + 1);
        const damaged = text.slice(0, place) + insert + text.slice(place + drop);
        const code = codeOf(damaged);
        let valid = true;
        try {
          JSON.parse(damaged);
        } catch {
          valid = false;
        }
        // A repeated key may be seen before the fault that follows it.
        if (valid) expect(code === undefined || code === 'INVALID_REQUEST').toBe(true);
        else expect(code === 'PARSE_ERROR' || code === 'INVALID_REQUEST').toBe(true);
        if (damaged === text) expect(code).toBeUndefined();
      },
    ),
    { numRuns: 1000 },
  );
});

/** A call as clients write it, with whatever they choose freely. */
const plainCalls = fc
  .record({
    id: fc.oneof(
      fc.nat().map(String),
      fc.string().map((id) => JSON.stringify(id)),
    ),
    name: fc.string().map((name) => JSON.stringify(name)),
    arguments: fc.option(fc.json()),
    meta: fc.option(fc.json()),
    more: fc.option(fc.constantFrom('"task":{}', '"requestState":"s"', '"inputResponses":{"a":1}')),
    sdk: fc.boolean(),
  })
  .map(({ id, name, arguments: args, meta, more, sdk }) => {
    const members = [
      `"name":${name}`,
      ...(args === null ? [] : [`"arguments":${args}`]),
      ...(meta === null ? [] : [`"_meta":${meta}`]),
      ...(more === null ? [] : [more]),
    ];
    const call = `"method":"tools/call","params":{${members.join(',')}}`;
    return sdk ? `{${call},"jsonrpc":"2.0","id":${id}}` : `{"jsonrpc":"2.0","id":${id},${call}}`;
  });

test('a call of a tool is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(plainCalls, (text) => {
      const { id, method, params } = JSON.parse(text);
      expect(single(text)).toEqual({
        kind: 'request',
        idText: expect.any(String),
        id,
        method,
        params,
        argumentsText: params.arguments == null ? undefined : expect.any(String),
        inputsText: params.inputResponses === undefined ? undefined : '{"a":1}',
        heldBytes: 0,
      });
    }),
  );
});

test('a call of a tool with a fault anywhere is refused exactly when JSON.parse refuses it', () => {
  const faults = fc.oneof(
    fc.string({ maxLength: 2 }),
    fc.constantFrom('\n', '\t', '\\', '"', ',', '0', '\0', '\u2028'),
  );
  fc.assert(
    fc.property(plainCalls, fc.nat(), faults, fc.nat(2), (text, at, insert, drop) => {
      const place = at % (text.length + 1);
      const damaged = text.slice(0, place) + insert + text.slice(place + drop);
      let valid = true;
      try {
        JSON.parse(damaged);
      } catch {
        valid = false;
      }
      const code = codeOf(damaged);
      if (valid) expect(code === undefined || code === 'INVALID_REQUEST').toBe(true);
      else expect(code === 'PARSE_ERROR' || code === 'INVALID_REQUEST').toBe(true);
    }),
    { numRuns: 3000 },
  );
});

test('a generated document is nested less than the limit, so the property above is about syntax alone', () => {
  fc.assert(fc.property(anyTree, (tree) => depthOf(tree) < 64));
});

function single(text: string): Message {
  const { messages } = readBody(text);
  expect(messages).toHaveLength(1);
  return messages[0] as Message; // counted above
}

function codeOf(text: string): ErrorCode | undefined {
  try {
    readBody(text);
    return undefined;
  } catch (error) {
    if (error instanceof HubError) return error.code;
    throw error;
  }
}

function rotated<T>(items: readonly T[], by: number): T[] {
  return [...items.slice(by), ...items.slice(0, by)];
}

test.each([
  ['null', undefined],
  ['"text"', undefined],
  ['[1]', undefined],
  ['{}', '{}'],
  ['{"q":  9007199254740993}', '{"q":  9007199254740993}'],
])('inputResponses %s', (inputs, inputsText) => {
  const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"inputResponses":${inputs}}}`;
  expect(readBody(text).messages).toMatchObject([{ kind: 'request', inputsText }]);
});

test('an answer of a client keeps its text; what is no object becomes an error that the server understands', () => {
  const answerTo = (members: string): unknown =>
    (readBody(`{"jsonrpc":"2.0","id":"qm-1",${members}}`).messages[0] as { answer?: unknown }).answer; // else undefined
  expect(answerTo('"result":{"n":9007199254740993,\n"a":1}')).toEqual({
    kind: 'result',
    text: '{"n":9007199254740993, "a":1}',
  });
  expect(answerTo('"error":{"code":-1,\r\n"message":"no"}')).toEqual({
    kind: 'error',
    text: '{"code":-1,  "message":"no"}',
  });
  for (const members of ['"result":null', '"result":[]', '"result":"x"', '"error":null', '"error":"x"', '"error":7']) {
    expect(answerTo(members)).toMatchObject({ kind: 'error', text: expect.stringContaining('-32603') });
  }
});
