import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { gatewayForTest, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { initializeRequest, modernClient, modernVersion } from '../../support/mcp-clients.ts';
import { ask, type Message, messagesOf } from '../../support/mcp-http.ts';
import { programPath } from '../../support/programs.ts';
import { verifies } from '../../support/verifies.ts';

/** Pages in a browser: what they may read, and where clients find out what `/mcp` wants. */
const page = 'https://page.example';
const dev = 'http://localhost:5173';
const stranger = 'https://evil.example';
const metadataPaths = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];

let hub: RunningGateway;
let token: string;

beforeAll(async () => {
  hub = await startGateway({
    serve: { maxBodyBytes: 10_000, allowedHosts: ['hub.example'], allowedOrigins: [page, '*'] },
  });
  token = await hub.token();
});

afterAll(() => hub?.stop());

type Headers = Record<string, string>;

/** As a page asks: `fetch`, and the headers that a browser adds. */
function fetched(path: string, origin: string | undefined, init: RequestInit = {}): Promise<Response> {
  const headers = { ...(init.headers as Headers | undefined), ...(origin === undefined ? {} : { origin }) }; // given so
  return fetch(`${hub.origin}${path}`, { signal: AbortSignal.timeout(10_000), ...init, headers });
}

const posting = (body: unknown, headers: Headers = {}): RequestInit => ({
  method: 'POST',
  headers: {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const preflight = (asked = 'authorization, content-type'): RequestInit => ({
  method: 'OPTIONS',
  headers: { 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
});

function sharing({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name === 'vary' || name.startsWith('access-control-')));
}

const sharedWith = (origin: string): Headers => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate',
  vary: 'Origin',
});

async function newSession(origin: string): Promise<Headers> {
  const opened = await fetched('/mcp', origin, posting(initializeRequest()));
  expect([opened.status, sharing(opened)]).toEqual([200, sharedWith(origin)]);
  const session = opened.headers.get('mcp-session-id') ?? '';
  await opened.text();
  return { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
}

describe.each([page, dev])('a page of %s', (origin) => {
  test(verifies('http:pages', 'works through a session of the 2025 revisions'), async () => {
    const session = await newSession(origin);
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: { message: 'hi' } },
    };
    const called = await fetched('/mcp', origin, posting(call, session));
    expect(sharing(called)).toEqual(sharedWith(origin));
    expect(await called.json()).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    const noted = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const taken = await fetched('/mcp', origin, posting(noted, session));
    expect([taken.status, sharing(taken)]).toEqual([202, sharedWith(origin)]);

    const listening = new AbortController();
    const authorization = `Bearer ${token}`;
    const headers = { ...session, authorization, accept: 'text/event-stream' };
    const stream = await fetched('/mcp', origin, { headers, signal: listening.signal });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(sharing(stream)).toEqual(sharedWith(origin));
    listening.abort();

    const ended = await fetched('/mcp', origin, { method: 'DELETE', headers: { ...session, authorization } });
    expect([ended.status, sharing(ended)]).toEqual([204, sharedWith(origin)]);
    const gone = await fetched('/mcp', origin, posting(call, session));
    expect([gone.status, sharing(gone)]).toEqual([404, sharedWith(origin)]);
  });

  test('works without a session in the 2026 revision, progress and all', async () => {
    const slow = { name: 'echo_slow', arguments: { ms: 150 } };
    const client = modernClient(hub.url, token);
    const quiet = client.prepare('tools/call', slow);
    const plain = await fetched('/mcp', origin, posting(quiet.body, quiet.headers));
    expect([plain.headers.get('content-type'), sharing(plain)]).toEqual(['application/json', sharedWith(origin)]);
    await plain.text();
    const growing = client.prepare('tools/call', slow, { meta: { progressToken: 'p' } });
    const streamed = await fetched('/mcp', origin, posting(growing.body, growing.headers));
    expect(streamed.headers.get('content-type')).toBe('text/event-stream');
    expect(sharing(streamed)).toEqual(sharedWith(origin));
    const messages: Message[] = messagesOf(await streamed.text());
    expect(messages.at(-1)?.result?.content?.[0]?.text).toBe('waited 150 ms');
  });

  test('hears why it is refused', async () => {
    const large = JSON.stringify({ ...initializeRequest(), padding: 'x'.repeat(20_000) });
    const refusals: [number, RequestInit][] = [
      [401, posting(initializeRequest(), { authorization: 'Bearer nobody' })],
      [404, posting({ jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': 'gone' })],
      [400, posting('{')],
      [405, { method: 'PUT', headers: { authorization: `Bearer ${token}` } }],
      [413, posting(large)],
      [415, posting('x', { 'content-type': 'text/plain' })],
    ];
    for (const [status, init] of refusals) {
      const refused = await fetched('/mcp', origin, init);
      expect([refused.status, sharing(refused)]).toEqual([status, sharedWith(origin)]);
      await refused.text();
    }
  });

  test.each(['/mcp', ...metadataPaths])('is told before that it may ask %s, without a token', async (path) => {
    const answer = await fetched(
      path,
      origin,
      preflight('authorization, Mcp-Param-Region, mcp-param-x, x-other, cookie'),
    );
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(sharing(answer)).toEqual({
      ...sharedWith(origin),
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers':
        'authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, ' +
        'last-event-id, x-quartermaster-run, traceparent, tracestate, mcp-param-region, mcp-param-x',
      'access-control-max-age': '7200',
    });
  });
});

describe(verifies('http:other-pages', 'a page that nobody allowed gets nothing'), () => {
  test.each([stranger, 'null', '*', 'https://page.example.evil.example', 'http://page.example', `${page}, ${dev}`])(
    'Origin: %s',
    async (origin) => {
      const sessions = hub.gateway.clientSessions;
      const list = modernClient(hub.url, token).prepare('tools/list');
      const requests: [string, RequestInit][] = [
        ['/mcp', preflight()],
        ['/mcp', posting(initializeRequest())],
        ['/mcp', posting(initializeRequest(), { authorization: '' })],
        ['/mcp', posting(list.body, list.headers)],
        ['/mcp', { headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' } }],
        ...metadataPaths.flatMap((path): [string, RequestInit][] => [
          [path, {}],
          [path, preflight()],
        ]),
      ];
      for (const [path, init] of requests) {
        const answer = await fetched(path, origin, init);
        expect([answer.status, sharing(answer)], `${init.method} ${path}`).toEqual([403, {}]);
        expect(answer.headers.get('mcp-session-id')).toBeNull();
        expect(answer.headers.get('www-authenticate')).toBeNull();
        const text = await answer.text();
        expect(text).toContain('serve.allowedOrigins');
        expect(text).not.toMatch(/echo|resource_name/);
      }
      expect(hub.gateway.clientSessions).toBe(sessions);
    },
  );

  test('nor does an allowed page under a host name that is not of the hub', async () => {
    const { headers, body } = modernClient(hub.url, token).prepare('tools/list');
    const answer = await ask(hub.url, { headers: { ...headers, origin: page, host: 'evil.example' }, body });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([403, undefined]);
  });

  test('the API, health and unknown addresses are for no other page', async () => {
    for (const path of [
      '/api/servers',
      '/metrics',
      '/healthz',
      '/readyz',
      '/',
      '/mcp/',
      '/.well-known/oauth-authorization-server',
    ]) {
      for (const init of [{}, preflight()]) {
        const answer = await fetched(path, page, init);
        expect(answer.headers.get('access-control-allow-origin'), path).toBeNull();
        await answer.text();
      }
    }
  });

  test('an origin counts until a reload takes it away', async () => {
    const alone = await gatewayForTest({ servers: {}, serve: { allowedOrigins: [page] } });
    const preflighted = () => fetch(alone.url, { ...preflight(), headers: { ...preflight().headers, origin: page } });
    expect((await preflighted()).status).toBe(204);
    await alone.configure({ servers: {} });
    await alone.hub.reload();
    const refused = await preflighted();
    expect([refused.status, sharing(refused)]).toEqual([403, {}]);
  });
});

test('a client that is not a page gets no CORS headers, and OPTIONS does not bypass the token', async () => {
  const opened = await fetched('/mcp', undefined, posting(initializeRequest()));
  expect([opened.status, sharing(opened)]).toEqual([200, {}]);
  await opened.text();
  for (const origin of [undefined, page]) {
    const bare = await fetched('/mcp', origin, { method: 'OPTIONS' });
    expect(bare.status).toBe(401);
    await bare.text();
  }
  expect((await fetched('/mcp', undefined, preflight())).status).toBe(401);
});

describe(verifies('http:metadata', 'a client finds out what the endpoint wants'), () => {
  const about = (host: string) => ({
    resource: `http://${host}/mcp`,
    bearer_methods_supported: ['header'],
    resource_name: 'Quartermaster',
  });
  const hostOf = () => new URL(hub.origin).host;

  test.each(metadataPaths)('at %s, without a token', async (path) => {
    const answer = await fetched(path, undefined);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await answer.json()).toEqual(about(hostOf()));
    const shared = await fetched(path, page, { headers: { 'mcp-protocol-version': modernVersion } });
    expect([sharing(shared), await shared.json()]).toEqual([sharedWith(page), about(hostOf())]);
    const named = await ask(`${hub.origin}${path}`, { headers: { host: 'hub.example:8443' } });
    expect(named.message).toEqual(about('hub.example:8443'));
    const head = await fetched(path, undefined, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const posted = await fetched(path, page, { method: 'POST', body: '{}' });
    expect([posted.status, posted.headers.get('allow'), sharing(posted)]).toEqual([405, 'GET, HEAD', sharedWith(page)]);
  });

  const pointer = () => `resource_metadata="${hub.origin}${metadataPaths[1]}"`;

  test.each([undefined, '', 'Basic abc', 'Bearer', 'nonsense'])('401 to %o points there', async (authorization) => {
    const answer = await ask(hub.url, { headers: { authorization }, body: initializeRequest() });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe(`Bearer realm="quartermaster", ${pointer()}`);
  });

  test('401 to a token that is not valid says so', async () => {
    const { token: revoked, id } = await hub.tokens.issue({ agent: 'tester' });
    await hub.tokens.revoke(id);
    for (const authorization of ['Bearer nobody', `bearer ${revoked}`, `Bearer ${token} x`, 'Bearer a"b\\c']) {
      const answer = await fetched('/mcp', page, posting(initializeRequest(), { authorization }));
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer realm="quartermaster", ${pointer()}, error="invalid_token", ` +
          'error_description="The token is not valid, has expired or was revoked."',
      );
      await answer.text();
    }
  });

  test.each(['localhost:1", error="x', 'localhost:x@evil.example', '[::1]x', 'localhost:80/x', 'localhost:123456'])(
    'a Host of %s is not repeated there',
    async (host) => {
      for (const path of ['/mcp', ...metadataPaths]) {
        const answer = await ask(`${hub.origin}${path}`, { headers: { host } });
        // A comma makes it look like two Host headers.
        const status = host.includes(',') ? 400 : 403;
        expect([answer.status, answer.headers['www-authenticate']], path).toEqual([status, undefined]);
      }
    },
  );
});

describe('clients that can log in', () => {
  const patient = { timeout: 60_000 };

  /** What a client that knows OAuth would do, had it a place to send its user to. */
  function willing(redirects: URL[]): OAuthClientProvider {
    return {
      redirectUrl: 'http://127.0.0.1:1/callback',
      clientMetadata: { redirect_uris: ['http://127.0.0.1:1/callback'] },
      clientInformation: () => undefined,
      saveClientInformation() {},
      tokens: () => undefined,
      saveTokens() {},
      redirectToAuthorization: (url) => void redirects.push(url),
      saveCodeVerifier() {},
      codeVerifier: () => 'none',
    };
  }

  test.each(['legacy', 'auto'] as const)('the SDK (%s) sends nobody to a login', patient, async (mode) => {
    const redirects: URL[] = [];
    const connect = async (bearer: string): Promise<string[]> => {
      const client = new Client({ name: 'willing', version: '1' }, { versionNegotiation: { mode } });
      const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
      const options = { authProvider: willing(redirects), requestInit };
      try {
        await client.connect(new StreamableHTTPClientTransport(new URL(hub.url), options));
        return (await client.listTools()).tools.map(({ name }) => name);
      } finally {
        await client.close();
      }
    };
    expect(await connect(token)).toContain('echo_add');
    await expect(connect('nobody')).rejects.toThrow(/qm token issue --agent NAME/);
    expect(redirects).toEqual([]);
  });

  async function throughRemote(bearer: string) {
    const home = await mkdtemp(join(tmpdir(), 'qm-web-'));
    onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 3 }));
    const args = [programPath('mcpRemote'), hub.url, '--allow-http', '--header', `Authorization: Bearer ${bearer}`];
    const env = { PATH: process.env.PATH ?? '', HOME: home };
    const transport = new StdioClientTransport({ command: programPath('node24'), args, env, stderr: 'pipe' });
    let said = '';
    transport.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
    });
    const client = new Client({ name: 'behind-remote', version: '1' });
    const connected = await client.connect(transport).then(
      () => true,
      () => false,
    );
    const tools = connected ? (await client.listTools()).tools.map(({ name }) => name) : [];
    await client.close();
    const kept = (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    return { tools, said, kept: kept.map(({ name }) => name) };
  }

  test('mcp-remote with a good token looks around and logs in nowhere', patient, async () => {
    const { tools, said, kept } = await throughRemote(token);
    expect(tools, said).toContain('echo_add');
    expect(said).not.toMatch(/sign-in|callback server|register/i);
    expect(kept).toEqual([]);
  });

  test('mcp-remote with a bad token ends, and says where tokens come from', patient, async () => {
    const { tools, said } = await throughRemote('nobody');
    expect(tools).toEqual([]);
    expect(said).toContain('qm token issue --agent NAME');
  });
});
