import fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorTable, HubError } from '../base/index.ts';
import { checkMirroredHeaders, classify, progressTokenOf } from './classify.ts';
import { isModernVersion, legacyVersions, metaKeys, negotiateLegacy } from './eras.ts';
import { readBody } from './message.ts';
import { anyPost, type Classification, mirrored, type Posted, theirs } from './sdk-classification.fixture.ts';

test('the official server judges every message as this hub does, but for the differences listed below', async () => {
  await fc.assert(
    fc.asyncProperty(anyPost, async (post) => {
      fc.pre(!isDeliberate(post));
      expect(ours(post)).toBe(await theirs(post));
    }),
    { numRuns: 3000 },
  );
});

const version = '2026-07-28';
const meta = (claim: unknown, more: object = {}): object => ({
  _meta: { [metaKeys.protocolVersion]: claim, [metaKeys.clientCapabilities]: {}, ...more },
});
const request = (method: string, params?: object): object => ({ jsonrpc: '2.0', id: 1, method, params });
const standard = (method: string, more: object = {}): Record<string, string> => ({
  'mcp-protocol-version': version,
  'mcp-method': method,
  ...more,
});

test.each<[string, Posted, Classification]>([
  ['handshake', { body: request('initialize', { protocolVersion: '2025-06-18' }), headers: {} }, 'legacy'],
  [
    'request of a session',
    { body: request('tools/list'), headers: { 'mcp-protocol-version': '2025-11-25' } },
    'legacy',
  ],
  ['modern request', { body: request('tools/list', meta(version)), headers: standard('tools/list') }, 'modern'],
  ['modern initialize', { body: request('initialize', meta(version)), headers: standard('initialize') }, 'modern'],
  ['handshake with a modern header', { body: request('initialize'), headers: standard('initialize') }, -32020],
  ['modern header alone', { body: request('tools/list'), headers: standard('tools/list') }, -32602],
  [
    'no version header',
    { body: request('tools/list', meta(version)), headers: { 'mcp-method': 'tools/list' } },
    -32020,
  ],
  ['no method header', { body: request('ping', meta(version)), headers: { 'mcp-protocol-version': version } }, -32020],
  [
    'another version header',
    { body: request('ping', meta(version)), headers: { 'mcp-protocol-version': '2025-06-18' } },
    -32020,
  ],
  ['another method header', { body: request('ping', meta(version)), headers: standard('tools/list') }, -32020],
  ['future revision', { body: request('ping', meta('2027-01-01')), headers: {} }, -32022],
  ['old revision in an envelope', { body: request('ping', meta('2025-06-18')), headers: {} }, -32022],
  [
    'no capabilities',
    { body: request('ping', { _meta: { [metaKeys.protocolVersion]: version } }), headers: {} },
    -32602,
  ],
  [
    'half a client',
    { body: request('ping', meta(version, { [metaKeys.clientInfo]: { name: 'x' } })), headers: {} },
    -32602,
  ],
  [
    'no name header',
    { body: request('tools/call', { ...meta(version), name: 'a' }), headers: standard('tools/call') },
    -32020,
  ],
  [
    'wrong name',
    {
      body: request('tools/call', { ...meta(version), name: 'a' }),
      headers: standard('tools/call', { 'mcp-name': 'b' }),
    },
    -32020,
  ],
  [
    'right name',
    {
      body: request('tools/call', { ...meta(version), name: 'a' }),
      headers: standard('tools/call', { 'mcp-name': 'a' }),
    },
    'modern',
  ],
  [
    'encoded name',
    {
      body: request('tools/call', { ...meta(version), name: 'ä' }),
      headers: standard('tools/call', { 'mcp-name': '=?base64?w6Q=?=' }),
    },
    'modern',
  ],
  [
    'uri',
    {
      body: request('resources/read', { ...meta(version), uri: 'a:b' }),
      headers: standard('resources/read', { 'mcp-name': 'a:b' }),
    },
    'modern',
  ],
  ['notification of a session', { body: { jsonrpc: '2.0', method: 'notifications/cancelled' }, headers: {} }, 'legacy'],
  ['modern notification', { body: { jsonrpc: '2.0', method: 'x' }, headers: standard('x') }, 'modern'],
  ['notification with another method', { body: { jsonrpc: '2.0', method: 'x' }, headers: standard('y') }, -32020],
  [
    'notification of the future',
    { body: { jsonrpc: '2.0', method: 'x', params: meta('2027-01-01') }, headers: {} },
    -32022,
  ],
  [
    'notification with an old claim',
    { body: { jsonrpc: '2.0', method: 'x', params: meta('2025-06-18') }, headers: {} },
    -32022,
  ],
  ['notification with a broken claim', { body: { jsonrpc: '2.0', method: 'x', params: meta(5) }, headers: {} }, -32602],
  ['posted answer', { body: { jsonrpc: '2.0', id: 1, result: {} }, headers: {} }, 'legacy'],
  ['nonsense', { body: { hello: 1 }, headers: {} }, -32600],
])('%s', async (_, post, classification) => {
  expect(ours(post)).toBe(classification);
  expect(await theirs(post)).toBe(classification);
});

/** Where the hub judges otherwise on purpose: what, why, an example, the two classifications. */
const differences: readonly {
  readonly what: string;
  readonly why: string;
  readonly example: Posted;
  readonly hub: Classification;
  readonly sdk: Classification;
}[] = [
  {
    what: 'a version that is no date, in the header or in initialize',
    why: 'the SDK compares text, so any word sorts after 2026 and counts as modern; here the session layer judges it',
    example: { body: request('tools/list'), headers: { 'mcp-protocol-version': 'garbage' } },
    hub: 'legacy',
    sdk: -32602,
  },
  {
    what: 'an id beyond 2^53',
    why: 'JSON-RPC has no such limit, and the hub gives the id back as text',
    example: { body: { jsonrpc: '2.0', id: 2 ** 60, method: 'ping' }, headers: {} },
    hub: 'legacy',
    sdk: -32600,
  },
  {
    what: 'params that are null',
    why: 'some clients print what they do not have, and nothing else can be meant',
    example: { body: { jsonrpc: '2.0', id: 1, method: 'ping', params: null }, headers: {} },
    hub: 'legacy',
    sdk: -32600,
  },
  {
    what: 'a _meta that is no object',
    why: 'nothing can be read from it, so it is not there',
    example: { body: request('ping', { _meta: null }), headers: {} },
    hub: 'legacy',
    sdk: -32600,
  },
  {
    what: 'an unknown member of a message',
    why: 'it means nothing to anybody, and JSON-RPC does not forbid it',
    example: { body: { jsonrpc: '2.0', id: 1, method: 'ping', extra: 1 }, headers: {} },
    hub: 'legacy',
    sdk: -32600,
  },
  {
    what: 'an answer whose result is no object',
    why: 'the hub asks clients nothing, so it drops every answer unread',
    example: { body: { jsonrpc: '2.0', id: 1, result: 5 }, headers: {} },
    hub: 'legacy',
    sdk: -32600,
  },
  {
    what: 'members of the envelope that the hub does not read',
    why: 'what is not used is not judged: the inside of capabilities, the log level',
    example: { body: request('ping', meta(version, { [metaKeys.logLevel]: 'loud' })), headers: standard('ping') },
    hub: 'modern',
    sdk: -32602,
  },
  {
    what: 'a name in irregular Base64',
    why: 'one spelling for one name: the unused bits of the last digit must be zero',
    example: {
      body: request('tools/call', { ...meta(version), name: 'a' }),
      headers: standard('tools/call', { 'mcp-name': '=?base64?YR==?=' }),
    },
    hub: -32020,
    sdk: 'modern',
  },
  {
    what: 'a name that begins with a byte order mark',
    why: 'the SDK loses the mark when it decodes the header; the hub compares what was sent',
    example: {
      body: request('tools/call', { ...meta(version), name: '\ufeffa' }),
      headers: standard('tools/call', { 'mcp-name': '=?base64?77u/YQ==?=' }),
    },
    hub: 'modern',
    sdk: -32020,
  },
  {
    what: 'a broken Mcp-Name where the body has no name',
    why: 'there is nothing to compare; the missing name is told instead, by whoever needs it',
    example: {
      body: request('tools/call', meta(version)),
      headers: standard('tools/call', { 'mcp-name': '=?base64?!?=' }),
    },
    hub: 'modern',
    sdk: -32020,
  },
  {
    what: 'a notification that is wrong twice',
    why: 'an old claim under a wrong method header: both are faults, and one is told',
    example: { body: { jsonrpc: '2.0', method: 'x', params: meta('2025-06-18') }, headers: { 'mcp-method': 'y' } },
    hub: -32020,
    sdk: -32022,
  },
];

test.each(differences)('deliberately different: $what, because $why', async ({ example, hub, sdk }) => {
  expect(ours(example)).toBe(hub);
  expect(await theirs(example)).toBe(sdk);
  expect(isDeliberate(example)).toBe(true);
});

test('an error repeats only a part of the sent text', () => {
  const long = 'x'.repeat(100_000);
  for (const post of [
    { body: request('ping', meta(long)), headers: {} },
    { body: request(long, meta(version)), headers: { 'mcp-method': 'y' } },
    { body: request('ping', meta(long)), headers: { 'mcp-protocol-version': '2025-06-18' } },
  ]) {
    expect(refusalOf(post)?.message.length).toBeLessThan(400);
    expect(JSON.stringify(refusalOf(post)?.details).length).toBeLessThan(400);
  }
});

test('a revision is a date, and the first modern one is known', () => {
  for (const modern of [version, '2026-07-29', '2030-01-01']) expect(isModernVersion(modern)).toBe(true);
  for (const legacy of [...legacyVersions, '', 'garbage', '2026-07-27', '2026-7-28', '2026-07-28x', 'v2026-07-28']) {
    expect(isModernVersion(legacy)).toBe(false);
  }
});

test('a handshake is answered with the revision that was asked for, or the newest', () => {
  for (const known of legacyVersions) expect(negotiateLegacy(known)).toBe(known);
  for (const unknown of ['2024-11-05', version, '', 5, undefined, null, {}]) {
    expect(negotiateLegacy(unknown)).toBe(legacyVersions[0]);
  }
});

test.each([
  [{ progressToken: 'a' }, 'a'],
  [{ progressToken: 0 }, 0],
  [{ progressToken: '' }, ''],
  [{ progressToken: 1.5 }, undefined],
  [{ progressToken: null }, undefined],
  [{ progressToken: {} }, undefined],
  [{}, undefined],
  ['x', undefined],
  [undefined, undefined],
])('_meta %j asks for progress under %j', (_meta, token) => {
  expect(progressTokenOf({ _meta })).toBe(token);
});

function ours(post: Posted): Classification {
  const [message] = readBody(JSON.stringify(post.body)).messages;
  if (message === undefined || message.kind === 'invalid') return errorTable.INVALID_REQUEST.jsonRpc;
  const refusal = refusalOf(post);
  return refusal === undefined ? classify(message, mirrored(post)) : refusal.row.jsonRpc;
}

function refusalOf(post: Posted): HubError | undefined {
  const [message] = readBody(JSON.stringify(post.body)).messages;
  try {
    if (message === undefined) throw new Error('no message');
    const era = classify(message, mirrored(post));
    if (era === 'modern' && message.kind === 'request') checkMirroredHeaders(message, mirrored(post));
    return undefined;
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
}

/** Whether a post is one of the listed differences. */
function isDeliberate(post: Posted): boolean {
  const { protocolVersion, method: methodHeader, name: nameHeader } = mirrored(post);
  const body = post.body as Record<string, unknown>; // every generated body is an object
  const params = (body.params ?? {}) as Record<string, unknown>; // read leniently below
  const envelope = (params._meta ?? {}) as Record<string, unknown>; // read leniently below
  const claim = envelope[metaKeys.protocolVersion];
  const capabilities = envelope[metaKeys.clientCapabilities];
  const name = params.name ?? params.uri ?? params.taskId;
  const known = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
  const isWord = (text: unknown): boolean => typeof text === 'string' && text >= version && !isModernVersion(text);
  return (
    isWord(protocolVersion) ||
    (isWord(claim) && body.method === 'initialize') ||
    (typeof body.id === 'number' && Number.isInteger(body.id) && !Number.isSafeInteger(body.id)) ||
    body.params === null ||
    params._meta === null ||
    Object.keys(body).some((key) => !known.has(key)) ||
    ('result' in body && typeof body.result !== 'object') ||
    envelope[metaKeys.logLevel] !== undefined ||
    (typeof capabilities === 'object' &&
      capabilities !== null &&
      Object.values(capabilities).some((value) => typeof value !== 'object')) ||
    nameHeader === '=?base64?YR==?=' ||
    (typeof name === 'string' && name.startsWith('\ufeff')) ||
    (typeof name !== 'string' && nameHeader === '=?base64?!?=') ||
    (!('id' in body) &&
      typeof claim === 'string' &&
      claim < version &&
      methodHeader !== undefined &&
      methodHeader !== body.method)
  );
}
