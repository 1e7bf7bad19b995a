import { type Answer, ask, type Message, openStream, type Stream } from './mcp-http.ts';

/** A legacy client without an SDK between the test and the transport. */
export interface LegacyClient {
  readonly sessionId: string;
  readonly protocolVersion: string;
  readonly initialized: Message;
  request(method: string, params?: object, extra?: Extra): Promise<Answer>;
  call(name: string, args?: object, extra?: Extra): Promise<Answer>;
  /** A call whose response is read incrementally. */
  callStream(name: string, args: object, extra?: Extra): Promise<Stream>;
  notify(method: string, params?: object, extra?: Extra): Promise<Answer>;
  post(body: unknown, headers?: Headers): Promise<Answer>;
  listen(headers?: Headers): Promise<Stream>;
  remove(): Promise<Answer>;
}

type Headers = Readonly<Record<string, string | undefined>>;

export interface Extra {
  readonly id?: string | number;
  readonly meta?: object;
  readonly headers?: Headers;
}

export const clientInfo = { name: 'test', version: '1' };

export function initializeRequest(
  protocolVersion = '2025-11-25',
  id: string | number = 'init',
  capabilities: object = {},
  info: object = clientInfo,
): object {
  const params = { protocolVersion, capabilities, clientInfo: info };
  return { jsonrpc: '2.0', id, method: 'initialize', params };
}

export async function legacyClient(
  url: string,
  token: string,
  version = '2025-11-25',
  capabilities: object = {},
  info: object = clientInfo,
): Promise<LegacyClient> {
  const authorization = `Bearer ${token}`;
  const body = initializeRequest(version, 'init', capabilities, info);
  const answer = await ask(url, { headers: { authorization }, body });
  const sessionId = answer.headers['mcp-session-id'];
  if (answer.status !== 200 || typeof sessionId !== 'string') throw new Error(`No session: ${answer.text}`);
  const protocolVersion = String(answer.message.result?.protocolVersion);
  const common = { authorization, 'mcp-session-id': sessionId, 'mcp-protocol-version': protocolVersion };
  let nextId = 1;
  const post = (body: unknown, headers: Headers = {}): Promise<Answer> =>
    ask(url, { headers: { ...common, ...headers }, body });
  const message = (method: string, params: object, extra: Extra): object => ({
    jsonrpc: '2.0',
    id: extra.id ?? nextId++,
    method,
    params: extra.meta === undefined ? params : { ...params, _meta: extra.meta },
  });
  const client: LegacyClient = {
    sessionId,
    protocolVersion,
    initialized: answer.message,
    post,
    request: (method, params = {}, extra = {}) => post(message(method, params, extra), extra.headers),
    call: (name, args = {}, extra = {}) => client.request('tools/call', { name, arguments: args }, extra),
    callStream: (name, args, extra = {}) =>
      openStream(url, {
        headers: { ...common, ...extra.headers },
        body: message('tools/call', { name, arguments: args }, extra),
      }),
    notify: (method, params = {}, extra = {}) => post({ jsonrpc: '2.0', method, params }, extra.headers),
    listen: (headers = {}) => openStream(url, { headers: { ...common, accept: 'text/event-stream', ...headers } }),
    remove: () => ask(url, { method: 'DELETE', headers: common }),
  };
  await client.notify('notifications/initialized');
  return client;
}

export const modernVersion = '2026-07-28';
export const metaPrefix = 'io.modelcontextprotocol/';

export function modernMeta(extra: object = {}): object {
  return {
    [`${metaPrefix}protocolVersion`]: modernVersion,
    [`${metaPrefix}clientCapabilities`]: {},
    [`${metaPrefix}clientInfo`]: clientInfo,
    ...extra,
  };
}

/** A modern client: requests only. */
export interface ModernClient {
  request(method: string, params?: object, extra?: Extra): Promise<Answer>;
  call(name: string, args?: object, extra?: Extra): Promise<Answer>;
  stream(method: string, params?: object, extra?: Extra): Promise<Stream>;
  /** The headers and body of a request, for tests that change a part of it. */
  prepare(method: string, params?: object, extra?: Extra): { headers: Record<string, string>; body: object };
}

export function modernClient(url: string, token: string): ModernClient {
  let nextId = 1;
  const prepare: ModernClient['prepare'] = (method, params = {}, extra = {}) => {
    const name = 'name' in params && typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
    const headers = {
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': modernVersion,
      'mcp-method': method,
      ...name,
      ...extra.headers,
    } as Record<string, string>; // undefined removes a header, which `ask` supports
    const body = {
      jsonrpc: '2.0',
      id: extra.id ?? nextId++,
      method,
      params: { _meta: modernMeta(extra.meta), ...params },
    };
    return { headers, body };
  };
  const client: ModernClient = {
    prepare,
    request: (method, params, extra) => ask(url, prepare(method, params, extra)),
    call: (name, args = {}, extra = {}) => client.request('tools/call', { name, arguments: args }, extra),
    stream: (method, params, extra) => openStream(url, prepare(method, params, extra)),
  };
  return client;
}

export function textOf({ result }: Message): string | undefined {
  return result?.content?.[0]?.text;
}

export function namesOf({ result }: Message): string[] {
  return (result?.tools ?? []).map(({ name }) => name);
}
