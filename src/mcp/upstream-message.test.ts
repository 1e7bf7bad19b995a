import fc from 'fast-check';
import { expect, test } from 'vitest';
import { choices, objectTree, spell, spellMember, type Tree } from './json/json-text.fixture.ts';
import { scanJson } from './json/scan-json.ts';
import { readUpstreamMessage, toLegacyResult, toModernResult, type UpstreamMessage } from './upstream-message.ts';

test('a result keeps its text, whatever surrounds it and however it is spelled', () => {
  fc.assert(
    fc.property(objectTree, choices, (tree, choose) => {
      const text = spell(tree, choose);
      const members = [
        spellMember('jsonrpc', '"2.0"', choose),
        spellMember('id', '7', choose),
        spellMember('result', text, choose),
      ];
      const by = choose(3);
      const message = result(`{${[...members.slice(by), ...members.slice(0, by)].join(',')}}`);
      expect(message.id).toBe(7);
      // Line breaks between tokens are the one thing that may not travel.
      expect(message.text).toBe(text.replace(/[\r\n]/g, ' '));
      expect(message.value).toEqual(JSON.parse(text));
    }),
  );
});

test.each([
  ['a second id behind the result', '{"jsonrpc":"2.0","id":1,"result":{},"id":2}', 2],
  ['a second result', '{"jsonrpc":"2.0","id":1,"result":{"a":1},"result":{"a":2}}', 1],
  [
    'an id inside the result',
    '{"result":{"a":{"x":",\\"jsonrpc\\":\\"2.0\\",\\"id\\":9}"}},"jsonrpc":"2.0","id":1}',
    1,
  ],
  ['two results before the tail', '{"result":{},"result":{"a":1},"jsonrpc":"2.0","id":1}', 1],
])('%s gets nowhere', (_, text, id) => {
  const message = result(text);
  expect(message.id).toBe(id);
  expect(JSON.parse(message.text)).toEqual((JSON.parse(text) as { result: unknown }).result);
});

test('numbers that no JavaScript number holds come through unchanged', () => {
  const text = '{"structuredContent":{"id":12345678901234567890,"price":1.10,"tiny":1e-400}}';
  expect(result(answer(text)).text).toBe(text);
  const error = '{"code":-5,"message":"no","data":{"id":12345678901234567890}}';
  expect(readUpstreamMessage(`{"jsonrpc":"2.0","id":1,"error":${error}}`)).toMatchObject({
    kind: 'error',
    text: error,
  });
});

test('a result of ten megabytes is read', () => {
  const text = `{"content":[{"type":"text","text":"${'x\\n'.repeat(3_400_000)}"}],"resultType":"complete"}`;
  const message = result(answer(text));
  expect(message.text).toBe(text);
  expect(toLegacyResult(message)).toBe(text.replace(',"resultType":"complete"', ''));
});

// Pipes and event streams end a message at a line break.
test('a pretty-printed answer becomes one line that says the same', () => {
  const value = { content: [{ type: 'text', text: 'two\nlines\r' }], resultType: 'complete', nested: { a: [1, 2] } };
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }, undefined, 2).replaceAll('\n', '\r\n');
  const message = result(text);
  for (const line of [message.text, toModernResult(message), toLegacyResult(message)])
    expect(line).not.toMatch(/[\r\n]/);
  expect(JSON.parse(message.text)).toEqual(value);
  const { resultType: _, ...legacy } = value;
  expect(JSON.parse(toLegacyResult(message))).toEqual(legacy);
  const error = readUpstreamMessage('{"id":1,"error":{\r\n"code":1,\n"message":"a\\nb"\r}}');
  expect(error).toMatchObject({ kind: 'error', text: '{  "code":1, "message":"a\\nb" }', message: 'a\nb' });
});

const others: Tree = {
  kind: 'object',
  entries: [
    [
      'content',
      { kind: 'array', items: [{ kind: 'object', entries: [['resultType', { kind: 'string', value: 'x' }]] }] },
    ],
    ['resulttype', { kind: 'literal', text: '1' }],
  ],
};

test('the type of a result is taken out for legacy clients and put in for modern ones, wherever it stood', () => {
  const places = fc.uniqueArray(fc.nat(3), { maxLength: 3 });
  fc.assert(
    fc.property(fc.oneof(objectTree, fc.constant(others)), places, choices, (tree, at, choose) => {
      const plain = (tree as Tree & { kind: 'object' }).entries.filter(([key]) => key !== 'resultType');
      const texts = plain.map(([key, value]) => spellMember(key, spell(value, choose), choose));
      for (const place of at) texts.splice(place, 0, spellMember('resultType', '"complete"', choose));
      const message = result(answer(`{${texts.join(',')}}`));
      const rest = JSON.parse(spell({ kind: 'object', entries: plain }, choose));
      expect(JSON.parse(toLegacyResult(message))).toEqual(rest);
      expect(JSON.parse(toModernResult(message))).toEqual({ ...rest, resultType: 'complete' });
      expect(keysOf(toLegacyResult(message))).toEqual(plain.map(([key]) => key));
      expect(keysOf(toModernResult(message)).filter((key) => key === 'resultType')).toHaveLength(1);
    }),
  );
});

test.each([
  ['{}', '{}', '{"resultType":"complete"}'],
  ['{ }', '{ }', '{"resultType":"complete" }'],
  ['{"resultType":"complete"}', '{}', '{"resultType":"complete"}'],
  ['{"resultType":"complete","a":1}', '{"a":1}', '{"resultType":"complete","a":1}'],
  ['{"a":1,"resultType":"complete"}', '{"a":1}', '{"a":1,"resultType":"complete"}'],
  ['{"a":1,"resultType":"complete","b":2}', '{"a":1,"b":2}', '{"a":1,"resultType":"complete","b":2}'],
  ['{"a":1}', '{"a":1}', '{"resultType":"complete","a":1}'],
  ['{"result\\u0054ype":"complete","a":1}', '{"a":1}', '{"result\\u0054ype":"complete","a":1}'],
  ['{"resultType":"input_required","a":1,"resultType":"complete"}', '{"a":1}', '{"resultType":"complete","a":1}'],
  ['{"resultType":"x","resultType":"complete"}', '{}', '{"resultType":"complete"}'],
  ['{"a":{"resultType":"x"}}', '{"a":{"resultType":"x"}}', '{"resultType":"complete","a":{"resultType":"x"}}'],
])('%s is %s to a legacy client and %s to a modern one', (text, legacy, modern) => {
  const message = result(answer(text));
  expect(toLegacyResult(message)).toBe(legacy);
  expect(toModernResult(message)).toBe(modern);
});

test('the last of two results counts, as with JSON.parse', () => {
  expect(result('{"id":1,"result":{"a":1},"id":2,"result":{"b":2}}')).toMatchObject({
    id: 2,
    text: '{"b":2}',
    value: { b: 2 },
  });
});

test.each([
  ['{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}', 'notification'],
  ['{"jsonrpc":"2.0","method":"notifications/x"}', 'notification'],
  ['{"jsonrpc":"2.0","method":"notifications/x","params":[1]}', 'notification'],
  ['{"jsonrpc":"2.0","id":0,"method":"ping"}', 'request'],
  ['{"jsonrpc":"2.0","id":"a","method":"ping"}', 'request'],
  ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 'garbage'],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"result":{}}', 'result'],
  ['{"jsonrpc":"2.0","id":1,"result":null}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"result":[]}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"result":"x"}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"result":{},"result":5}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}', 'error'],
  ['{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}', 'error'],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"no"}}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":1}}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"error":"no"}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1}', 'garbage'],
  ['{"__proto__":{"id":1,"result":{}}}', 'garbage'],
  ['{"result":{"__proto__":{"isError":true}}}', 'result'],
  ['{}', 'garbage'],
  ['[]', 'garbage'],
  ['[{', 'garbage'],
  ['', 'garbage'],
  ['  \r', 'garbage'],
  ['[{"jsonrpc":"2.0","id":1,"result":{}}]', 'garbage'],
  ['5', 'garbage'],
  ['"x"', 'garbage'],
  ['null', 'garbage'],
  ['', 'garbage'],
  ['\r', 'garbage'],
  ['Server listening on port 3000', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"result":{}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"result":{}}}', 'garbage'],
  ['{"jsonrpc":"2.0","id":1,"result":{"a":"b\nc"}}', 'garbage'],
  ['\ufeff{"jsonrpc":"2.0","id":1,"result":{}}', 'garbage'],
  ['<html></html>', 'garbage'],
])('%s is %s', (text, kind) => {
  expect(readUpstreamMessage(text).kind).toBe(kind);
});

test('what must be scanned nests as deep as anybody needs, and no deeper', () => {
  const nested = (depth: number): string => ` ${answer(`{"a":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}`)}`;
  expect(readUpstreamMessage(nested(512)).kind).toBe('result');
  expect(readUpstreamMessage(nested(513))).toEqual({ kind: 'garbage', reason: 'nested deeper than 512 levels', id: 1 });
});

test.each([
  ['its id first', (text: string) => `{"jsonrpc":"2.0","id":1,"result":${text}}`],
  ['its result first', (text: string) => `{"result":${text},"jsonrpc":"2.0","id":1}`],
])('a result that is spelled as usual, %s, nests no deeper either, and its request is known', (_, spelled) => {
  const nested = (levels: number): string => `{"tools":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}`;
  expect(readUpstreamMessage(spelled(nested(512))).kind).toBe('result');
  for (const levels of [513, 8000, 100_000]) {
    const deep = { kind: 'garbage', reason: 'nested deeper than 512 levels', id: 1 };
    expect(readUpstreamMessage(spelled(nested(levels)))).toEqual(deep);
  }
  // Brackets in strings are none, and many beside each other are not deep.
  expect(readUpstreamMessage(spelled(`{"a":"${'['.repeat(5000)}"}`)).kind).toBe('result');
  expect(readUpstreamMessage(spelled(`{"a":[${'[],'.repeat(5000)}{}]}`)).kind).toBe('result');
});

test.each([
  ['a request of the server', `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${deepArray(9000)}}}`],
  ['a notification', `{"jsonrpc":"2.0","method":"m","params":{"a":${deepArray(9000)}}}`],
  ['an id that is deep itself', `{"jsonrpc":"2.0","result":{},"id":${deepArray(9000)}}`],
])('%s that nests too deep answers no request', (_, text) => {
  const message = readUpstreamMessage(text);
  expect(message).toMatchObject({ kind: 'garbage', reason: 'nested deeper than 512 levels' });
  expect(typeof (message as { id?: unknown }).id).not.toBe('number');
});

function deepArray(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

test('a result in a usual spelling is read as in any other, damaged or not', () => {
  const ids = fc.constantFrom('1', '0', '-1', '01', '1.0', '1e3', '"1"', 'null', '999999999999999', '9007199254740993');
  const forms = fc.constantFrom<(id: string, text: string) => string>(
    (id, text) => `{"jsonrpc":"2.0","id":${id},"result":${text}}`,
    (id, text) => `{"result":${text},"jsonrpc":"2.0","id":${id}}`,
  );
  const damage = fc.option(fc.tuple(fc.nat(), fc.string({ maxLength: 2 }), fc.nat(2)), { nil: undefined });
  fc.assert(
    fc.property(forms, ids, objectTree, choices, damage, (form, id, tree, choose, harm) => {
      let text = form(id, spell(tree, choose));
      if (harm !== undefined) {
        const [at, insert, drop] = harm;
        const place = at % text.length;
        text = text.slice(0, place) + insert + text.slice(place + drop);
      }
      // A blank in front of it is no usual spelling.
      const usual = readUpstreamMessage(text);
      expect(usual).toEqual(readUpstreamMessage(` ${text}`));
      if (usual.kind === 'result') expect(usual.value).toEqual((JSON.parse(text) as { result: unknown }).result);
    }),
    { numRuns: 1000 },
  );
});

test('a result that nests as deep as it may reaches either client', () => {
  const deep = deepArray(510);
  const message = result(answer(`{"resultType":"complete","a":${deep}}`));
  expect(toLegacyResult(message)).toBe(`{"a":${deep}}`);
  expect(toModernResult(message)).toBe(message.text);
});

// JSON.parse takes seconds and gigabytes for these; it would also say something else about the first.
test.each([
  ['without an end', `{"a":${'['.repeat(4_000_000)}`],
  ['with an end', answer(`{"a":${'['.repeat(2_000_000)}${']'.repeat(2_000_000)}}`)],
])('megabytes of brackets %s are refused for their depth', (_, text) => {
  expect(readUpstreamMessage(text)).toMatchObject({ kind: 'garbage', reason: 'nested deeper than 512 levels' });
});

test('any text at all is read as something', () => {
  const kinds = ['result', 'error', 'request', 'notification', 'garbage'];
  fc.assert(
    fc.property(objectTree, choices, fc.nat(), fc.string({ maxLength: 2 }), (tree, choose, at, insert) => {
      const text = answer(spell(tree, choose));
      const place = at % text.length;
      expect(kinds).toContain(readUpstreamMessage(text.slice(0, place) + insert + text.slice(place + 1)).kind);
    }),
  );
});

function answer(resultText: string): string {
  return `{"jsonrpc":"2.0","id":1,"result":${resultText}}`;
}

function result(text: string): UpstreamMessage & { kind: 'result' } {
  const message = readUpstreamMessage(text);
  if (message.kind !== 'result') throw new Error(`read as ${message.kind}`);
  return message;
}

/** Keys as they stand in the text, repeated ones too. */
function keysOf(text: string): string[] {
  return (scanJson(text, { maxDepth: 64, rejectRepeatedKeys: false, collectDepth: 1 }).members ?? []).map(
    ({ key }) => key,
  );
}

test('structured content that is no object is for modern clients alone', () => {
  const read = (text: string) => readUpstreamMessage(text) as UpstreamMessage & { kind: 'result' }; // it is one
  const odd = read('{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":[12345678901234567890],"x":1}}');
  expect(toLegacyResult(odd)).toBe('{"content":[],"x":1}');
  expect(toModernResult(odd)).toBe(
    '{"resultType":"complete","content":[],"structuredContent":[12345678901234567890],"x":1}',
  );
  const plain = read('{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"n":1}}}');
  expect(toLegacyResult(plain)).toBe('{"content":[],"structuredContent":{"n":1}}');
});

test('a large result is not parsed before somebody reads its large members', () => {
  const large = 'x'.repeat(300_000);
  const text = `{"jsonrpc":"2.0","id":3,"result":{"isError":false,"structuredContent":{"said":"${large}"},"content":["${large}"]}}`;
  const parsed: number[] = [];
  const { parse } = JSON;
  JSON.parse = (source: string) => {
    parsed.push(source.length);
    return parse(source);
  };
  try {
    const message = readUpstreamMessage(text);
    expect(message).toMatchObject({ kind: 'result', id: 3 });
    if (message.kind !== 'result') return;
    expect(toLegacyResult(message)).toBe(message.text);
    expect(message.value.isError).toBe(false);
    expect(Math.max(...parsed)).toBeLessThan(100);
    expect(message.value).toEqual(parse(message.text));
  } finally {
    JSON.parse = parse;
  }
});

test.each([
  ['an escape that is none', '"\\q"'],
  ['half an escape', '"\\u12"'],
  ['a control character', '"\u0001"'],
  ['a tab in a string', '"\t"'],
  ['a literal that is none', 'nul'],
  ['a number that is none', '01'],
  ['a comma too many', '[1,]'],
  ['a wrong bracket', '[1}'],
])('a large result with %s fails its request instead of reaching the client', (_what, value) => {
  const large = 'x'.repeat(300_000);
  const text = `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"${large}","more":${value}}]}}`;
  expect(readUpstreamMessage(text)).toEqual({ kind: 'garbage', reason: 'not JSON', id: 3 });
});

test('a large message that is not a result is bounded', () => {
  const large = 'x'.repeat(5_000_000);
  const notice = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${large}"}}`;
  expect(readUpstreamMessage(notice)).toMatchObject({ kind: 'garbage', id: undefined });
  const error = `{"jsonrpc":"2.0","id":4,"error":{"code":-1,"message":"${large}"}}`;
  expect(readUpstreamMessage(error)).toMatchObject({ kind: 'garbage', id: 4 });
});
