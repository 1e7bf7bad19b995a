import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { metaKeys, modernVersion } from './eras.ts';
import {
  encodeHeaderValue,
  headerValueMatches,
  mirroredArgumentHeaders,
  scanMirroredArguments,
} from './mirrored-headers.ts';

/** Text that UTF-8 can carry. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }).filter((value) => Buffer.from(value).toString() === value),
  fc.constantFrom(
    '',
    ' ',
    'a ',
    '\ta',
    'a\nb',
    'a\r\nInjected: 1',
    '=?base64?',
    '=?base64?YQ==?=',
    '=?base64?=',
    'é',
    '\x7f',
    '\0',
  ),
);

test('any text becomes a header value that means it and nothing else', () => {
  fc.assert(
    fc.property(text, text, (value, other) => {
      const header = encodeHeaderValue(value);
      expect(header).toMatch(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/);
      expect(headerValueMatches(header, value)).toBe(true);
      expect(headerValueMatches(header, other)).toBe(value === other);
    }),
  );
});

test('plain text stays plain, so that people and proxies can read it', () => {
  for (const value of ['files_read', 'a b', 'file:///tmp/a?b=c#d', '=?utf8?a?=', '~']) {
    expect(encodeHeaderValue(value)).toBe(value);
  }
});

test('a header matches in its regular spelling only', () => {
  expect(headerValueMatches('=?base64?w6Q=?=', 'ä')).toBe(true);
  expect(headerValueMatches('=?base64?w6Q?=', 'ä')).toBe(false);
  expect(headerValueMatches('=?base64?w6R=?=', 'ä')).toBe(false);
  expect(headerValueMatches('=?base64? w6Q=?=', 'ä')).toBe(false);
  expect(headerValueMatches('=?BASE64?w6Q=?=', 'ä')).toBe(false);
  expect(headerValueMatches('=?base64?YQ==?=', '=?base64?YQ==?=')).toBe(false);
  expect(headerValueMatches('=?base64?_-==?=', '\u00ff')).toBe(false);
  expect(headerValueMatches('ä', 'ä')).toBe(true);
});

test('half a surrogate pair matches no header, not even the one that stands for it in UTF-8', () => {
  expect(headerValueMatches('=?base64?77+9?=', '\ud800')).toBe(false);
  expect(headerValueMatches('=?base64?77+9?=', '\ufffd')).toBe(true);
});

const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    nested: { type: 'object', properties: { dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' } } },
    plain: { type: 'string' },
  },
} as const;

test('the official server accepts the headers made for any arguments', async () => {
  const scan = scanMirroredArguments(schema);
  if (!scan.valid) throw new Error(scan.reason);
  const args = fc.record(
    {
      // The SDK loses a leading byte order mark when it decodes.
      region: text.filter((value) => !value.startsWith('\ufeff')),
      count: fc.oneof(fc.integer(), fc.constantFrom(-0, 1e20, 2 ** 53, 2 ** 53 - 1, 1.5, 1e-7)),
      nested: fc.record({ dry: fc.boolean() }, { requiredKeys: [] }),
      plain: fc.string(),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(args, async (given) => {
      const headers = mirroredArgumentHeaders(scan.mirrored, given);
      expect(await serverTakes(given, headers)).toBe(true);
      // The check is alive: without the headers it refuses.
      const needed = mirroredArgumentHeaders(scan.mirrored, given).length > 0;
      expect(await serverTakes(given, [])).toBe(!needed);
    }),
    { numRuns: 60 },
  );
});

test('only what a header can say exactly is mirrored', () => {
  const mirrored = [
    { header: 'A', path: ['a'] },
    { header: 'B', path: ['b', 'c'] },
  ];
  const headersOf = (args: unknown): unknown => mirroredArgumentHeaders(mirrored, args);
  expect(headersOf({ a: 'x', b: { c: true } })).toEqual([
    ['Mcp-Param-A', 'x'],
    ['Mcp-Param-B', 'true'],
  ]);
  expect(headersOf({ a: 5, b: { c: 1.5 } })).toEqual([
    ['Mcp-Param-A', '5'],
    ['Mcp-Param-B', '1.5'],
  ]);
  for (const value of [null, undefined, {}, [], ['x'], 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(headersOf({ a: value, b: value })).toEqual([]);
  }
  for (const args of [undefined, null, 'x', [], { b: 'c' }, { b: [{ c: 1 }] }]) expect(headersOf(args)).toEqual([]);
  expect(mirroredArgumentHeaders([{ header: 'X', path: ['constructor', 'name'] }], {})).toEqual([]);
});

const marked = { type: 'string', 'x-mcp-header': 'A' };

test.each<[string, unknown, string[][]]>([
  ['no schema', undefined, []],
  ['no marks', { type: 'object', properties: { a: { type: 'string' } } }, []],
  ['a property', { properties: { a: marked } }, [['a']]],
  ['nested properties', { properties: { a: { properties: { b: marked } } } }, [['a', 'b']]],
  ['two names', { properties: { a: marked, b: { ...marked, 'x-mcp-header': 'B' } } }, [['a'], ['b']]],
  [
    'data that looks like a mark',
    { properties: { a: { const: marked, default: marked, enum: [marked], examples: [marked] } } },
    [],
  ],
  ['a property of that name', { properties: { 'x-mcp-header': { type: 'string' } } }, []],
  ['a definition of that name', { $defs: { 'x-mcp-header': { type: 'string' } }, properties: { a: marked } }, [['a']]],
  [
    'properties named like keywords',
    { properties: { items: marked, $defs: { ...marked, 'x-mcp-header': 'B' } } },
    [['items'], ['$defs']],
  ],
])('marks are read: %s', (_, given, paths) => {
  expect(scanMirroredArguments(given)).toMatchObject({ valid: true, mirrored: paths.map((path) => ({ path })) });
});

test.each<[string, unknown]>([
  ['on the schema itself', marked],
  ['under items', { properties: { a: { items: marked } } }],
  ['under anyOf', { anyOf: [{ properties: { a: marked } }] }],
  ['under $defs', { $defs: { a: { properties: { b: marked } } } }],
  ['under a definition named like a keyword of data', { $defs: { default: marked } }],
  ['under patternProperties', { patternProperties: { '.*': marked } }],
  ['under additionalProperties', { additionalProperties: marked }],
  ['under not', { properties: { a: { not: { properties: { b: marked } } } } }],
  ['under a keyword nobody knows', { unknown: { properties: { a: marked } } }],
  ['with an empty name', { properties: { a: { ...marked, 'x-mcp-header': '' } } }],
  ['with a blank in the name', { properties: { a: { ...marked, 'x-mcp-header': 'a b' } } }],
  ['with a line break in the name', { properties: { a: { ...marked, 'x-mcp-header': 'a\r\nb' } } }],
  ['with a colon in the name', { properties: { a: { ...marked, 'x-mcp-header': 'a:' } } }],
  ['with no text as name', { properties: { a: { ...marked, 'x-mcp-header': 5 } } }],
  ['on a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
  ['on an object', { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }],
  ['on several types', { properties: { a: { type: ['string', 'null'], 'x-mcp-header': 'A' } } }],
  ['without a type', { properties: { a: { 'x-mcp-header': 'A' } } }],
  ['twice', { properties: { a: marked, b: { ...marked, 'x-mcp-header': 'a' } } }],
])('marks are refused: %s', (_, given) => {
  expect(scanMirroredArguments(given)).toMatchObject({ valid: false });
});

/** Whether the SDK's server lets the call through to the tool. */
async function serverTakes(args: object, headers: readonly [string, string][]): Promise<boolean> {
  let called = false;
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'x', version: '1' });
    const inputSchema = fromJsonSchema(schema as never); // the SDK's own type of a schema is narrower than JSON Schema
    server.registerTool('act', { inputSchema }, () => ({ content: [] }));
    called = true;
    return server;
  });
  const _meta = { [metaKeys.protocolVersion]: modernVersion, [metaKeys.clientCapabilities]: {} };
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'act', arguments: args, _meta },
  });
  const answer = await handler.fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      body,
      headers: [
        ['content-type', 'application/json'],
        ['accept', 'application/json, text/event-stream'],
        ['mcp-protocol-version', modernVersion],
        ['mcp-method', 'tools/call'],
        ['mcp-name', 'act'],
        ...headers,
      ],
    }),
  );
  const reply = await answer.text();
  await handler.close();
  expect(called).toBe(true);
  return !reply.includes('-32020');
}
