import { classifyInboundRequest, createMcpHandler } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import type { MirroredHeaders } from './classify.ts';
import { metaKeys } from './eras.ts';

/** The era, or the JSON-RPC code of the refusal. */
export type Classification = 'legacy' | 'modern' | number;

export interface Posted {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Runs the SDK's classifier, then its HTTP entry up to the point where it would create a server. */
export async function theirs(post: Posted): Promise<Classification> {
  const body: unknown = JSON.parse(JSON.stringify(post.body));
  const { protocolVersion, method, name } = mirrored(post);
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(protocolVersion === undefined ? {} : { protocolVersionHeader: protocolVersion }),
    ...(method === undefined ? {} : { mcpMethodHeader: method }),
    ...(name === undefined ? {} : { mcpNameHeader: name }),
  });
  if (outcome.kind === 'legacy') return 'legacy';
  if (outcome.kind === 'reject') return outcome.code;
  let reached = false;
  const handler = createMcpHandler(
    () => {
      reached = true;
      throw new Error('far enough');
    },
    { legacy: 'reject' },
  );
  const headers = {
    ...post.headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const answer = await handler.fetch(
    new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body: JSON.stringify(body) }),
  );
  if (reached) return 'modern';
  // a refusal before the server is a JSON-RPC error
  const { error } = (await answer.json()) as { error: { code: number } };
  return error.code;
}

/** Header values as an HTTP parser returns them. */
export function mirrored({ headers }: Posted): MirroredHeaders {
  const parsed = new Headers(headers);
  return {
    protocolVersion: parsed.get('mcp-protocol-version') ?? undefined,
    method: parsed.get('mcp-method') ?? undefined,
    name: parsed.get('mcp-name') ?? undefined,
  };
}

const version = '2026-07-28';
const absent = Symbol('absent');

/** Messages and headers of both eras, of neither, and in every combination. */
export const anyPost: fc.Arbitrary<Posted> = posts();

function posts(): fc.Arbitrary<Posted> {
  const versions = ['2025-03-26', '2025-11-25', version, '2027-01-01'];
  const methods = [
    'tools/call',
    'prompts/get',
    'resources/read',
    'tasks/get',
    'tools/list',
    'initialize',
    'ping',
    'constructor',
  ];
  const names = ['a', '', ' a', 'ä', '\ud800', '\ufffd', '=?base64?YQ==?=', 'a b', 5, absent];
  const nameHeaders = [
    'a',
    'b',
    '',
    '=?base64?YQ==?=',
    '=?base64?!?=',
    '=?base64??=',
    '=?base64?IGE=?=',
    '=?base64?w6Q=?=',
    '=?base64?77+9?=',
    '=?base64?PT9iYXNlNjQ/WVE9PT89?=',
    '=?BASE64?YQ==?=',
    absent,
  ];
  const envelope = fc.record({
    claim: fc.constantFrom(...versions, version, version, 'garbage', '', 5, null, {}, absent),
    capabilities: fc.constantFrom({}, {}, {}, { sampling: {} }, null, 'x', [], absent),
    client: fc.constantFrom(
      { name: 'x', version: '1' },
      absent,
      absent,
      { name: 'x' },
      { name: 1, version: '1' },
      null,
      'x',
      [],
    ),
  });
  const parts = fc.record({
    kind: fc.constantFrom('request', 'request', 'request', 'notification', 'response', 'error'),
    id: fc.constantFrom(1, 'a', -5, 0, 1.5, null, true),
    jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '2.0', '2.0', '1.0', 2),
    method: fc.constantFrom(...methods),
    params: fc.constantFrom('object', 'object', 'object', 'absent', 'array', 'text'),
    meta: fc.constantFrom('envelope', 'envelope', 'envelope', 'absent'),
    envelope,
    name: fc.constantFrom(...names),
    versionHeader: fc.constantFrom('same', 'same', ...versions, ' \t2026-07-28 ', '', absent),
    methodHeader: fc.constantFrom('same', 'same', 'same', 'tools/list', ' ping\t', '', absent),
    nameHeader: fc.constantFrom('same', 'same', ...nameHeaders),
  });
  return parts.map(
    ({ kind, id, jsonrpc, method, params, meta, envelope, name, versionHeader, methodHeader, nameHeader }) => {
      const claimed = {
        [metaKeys.protocolVersion]: envelope.claim,
        [metaKeys.clientCapabilities]: envelope.capabilities,
        [metaKeys.clientInfo]: envelope.client,
      };
      const metas = { envelope: present(claimed), absent };
      const field = method === 'resources/read' ? 'uri' : method === 'tasks/get' ? 'taskId' : 'name';
      const paramses = { object: present({ [field]: name, _meta: metas[meta] }), absent, array: [], text: 'x' };
      const messages = {
        request: { jsonrpc, id, method, params: paramses[params] },
        notification: { jsonrpc, method, params: paramses[params] },
        response: { jsonrpc, id, result: {} },
        error: { jsonrpc, id, error: { code: 1, message: 'x' } },
      };
      const claim = typeof envelope.claim === 'string' ? envelope.claim : absent;
      const plain = typeof name === 'string' && /^[!-~]+$/.test(name) ? name : absent;
      const headers = {
        'mcp-protocol-version': versionHeader === 'same' ? claim : versionHeader,
        'mcp-method': methodHeader === 'same' ? method : methodHeader,
        'mcp-name': nameHeader === 'same' ? plain : nameHeader,
      };
      // symbols were removed
      return { body: present(messages[kind]), headers: present(headers) as Record<string, string> };
    },
  );
}

/** The object without its `absent` members. */
function present(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== absent));
}
