import { expect, onTestFinished, test } from 'vitest';
import { eventually, pause, within } from '../../../test/support/within.ts';
import { createSilentLogger, createSystemClock, HubError } from '../../base/index.ts';
import { modernVersion } from '../../mcp/index.ts';
import { handlers } from '../request-handlers.fixture.ts';
import {
  controlRequest,
  legacyEnvelope,
  modernEnvelope,
  type Transport,
  type UpstreamReply,
  type UpstreamRequest,
} from '../transport.ts';
import { openStream, type Received, sendJsonReply, serveHttp } from './http-server.fixture.ts';
import { createHttpTransport } from './http-transport.ts';

async function open(url: string, headers: Record<string, string> = {}, events: string[] = []): Promise<Transport> {
  const transport = await createHttpTransport(
    {
      clock: createSystemClock(),
      logger: createSilentLogger(),
      events: {
        onNotification: (method) => events.push(method),
        onLost: (error) => events.push(error.code),
        onRefused: (error) => events.push(error.code),
      },
    },
    { server: 'files', exclusive: false, spec: { type: 'http', url, headers } },
  );
  onTestFinished(() => within(transport.close(), 'the transport to close'));
  return transport;
}

function callRequest(more: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method: 'tools/call',
    members: '"name":"echo","arguments":{"message":"hi"}',
    meta: '',
    name: 'echo',
    mirrored: [],
    args: { message: 'hi' },
    timeoutMs: 10_000,
    maxMs: 10_000,
    capabilities: '{}',
    handlers: undefined,
    ...more,
  };
}

async function ask(transport: Transport, request: UpstreamRequest = callRequest()): Promise<UpstreamReply> {
  return within(transport.request(request).reply, 'a reply');
}

function good({ message, response }: Received): void {
  sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: { said: 'hi' } });
}

function codeOf(reply: UpstreamReply): string {
  return reply.kind === 'failed' ? reply.error.code : reply.kind;
}

test('a legacy request is a POST with the configured headers and nothing modern', async () => {
  const server = await serveHttp(good);
  const transport = await open(server.url, { authorization: 'Bearer mine', 'X-Team': 'blue' });
  transport.speak(legacyEnvelope('2025-06-18'));
  expect(await ask(transport)).toMatchObject({ kind: 'result', value: { said: 'hi' }, httpStatus: 200 });
  const { request, message } = server.received[0] as Received; // one request came
  expect([request.method, request.url]).toEqual(['POST', '/mcp?team=a']);
  expect(request.headers).toMatchObject({
    authorization: 'Bearer mine',
    'x-team': 'blue',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-06-18',
  });
  expect(Object.keys(request.headers).filter((name) => /^mcp-(method|name|param|session)/.test(name))).toEqual([]);
  expect(message).toEqual({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'echo', arguments: { message: 'hi' } },
  });
});

test('a modern request repeats itself in headers, whatever characters the values have', async () => {
  const server = await serveHttp(good);
  const transport = await open(server.url);
  transport.speak(modernEnvelope(modernVersion, { name: 'quartermaster', version: '1' }));
  const mirrored = [{ header: 'Region', path: ['where', 'region'] }];
  await ask(transport, callRequest({ name: 'écho', mirrored, args: { where: { region: 'eu\nwest' } } }));
  const { request, message } = server.received[0] as Received; // one request came
  expect(request.headers).toMatchObject({
    'mcp-protocol-version': modernVersion,
    'mcp-method': 'tools/call',
    'mcp-name': `=?base64?${Buffer.from('écho').toString('base64')}?=`,
    'mcp-param-region': `=?base64?${Buffer.from('eu\nwest').toString('base64')}?=`,
  });
  expect(message.params).toMatchObject({ _meta: { 'io.modelcontextprotocol/protocolVersion': modernVersion } });
});

test('the session that initialize brought goes with every later request, and is ended at the close', async () => {
  const server = await serveHttp((received) => {
    if (received.request.method === 'DELETE') received.response.writeHead(200).end();
    else if (received.message.id === undefined) received.response.writeHead(202).end();
    else sendJsonReply(received.response, 200, { jsonrpc: '2.0', id: received.message.id, result: {} }, session);
  });
  const session = { 'mcp-session-id': 'one' };
  const transport = await open(server.url);
  await ask(transport);
  expect(transport.sessionId).toBeNull();
  await ask(transport, controlRequest('initialize', {}, 1000));
  expect(transport.sessionId).toBe('one');
  void transport.notify('notifications/initialized');
  await ask(transport);
  await transport.close();
  const sent = server.received.map(({ request }) => [request.method, request.headers['mcp-session-id']]);
  expect(sent).toEqual([
    ['POST', undefined],
    ['POST', undefined],
    ['POST', 'one'],
    ['POST', 'one'],
    ['DELETE', 'one'],
  ]);
});

test.each([
  ['an error with the right id', 200, { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no' } }, 'error'],
  ['an error without an id', 400, { jsonrpc: '2.0', id: null, error: { code: -32602, message: 'no' } }, 'error'],
  ['404 with a JSON-RPC error', 404, { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no' } }, 'error'],
  ['an error for somebody else', 200, { jsonrpc: '2.0', id: 7, error: { code: 1, message: 'x' } }, 'UPSTREAM_GARBLED'],
  ['a result for somebody else', 200, { jsonrpc: '2.0', id: 7, result: {} }, 'UPSTREAM_GARBLED'],
  ['the id as a string', 200, { jsonrpc: '2.0', id: '1', result: {} }, 'UPSTREAM_GARBLED'],
  ['half a message', 200, '{"jsonrpc":"2.0","id":1,"resu', 'UPSTREAM_GARBLED'],
  ['nothing', 200, '', 'UPSTREAM_GARBLED'],
  ['202 to a request', 202, '', 'UPSTREAM_FAILED'],
  ['401', 401, { error: 'invalid_token' }, 'UPSTREAM_NEEDS_LOGIN'],
  [
    '401 with a JSON-RPC error',
    401,
    { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } },
    'UPSTREAM_NEEDS_LOGIN',
  ],
  ['403', 403, '', 'UPSTREAM_FORBIDDEN'],
  ['451', 451, '', 'UPSTREAM_FORBIDDEN'],
  ['429', 429, '', 'UPSTREAM_THROTTLED'],
  ['500', 500, 'oops', 'UPSTREAM_FAILED'],
  ['404 without a session', 404, 'not here', 'UPSTREAM_FAILED'],
])('%s', async (_what, status, body, expected) => {
  const server = await serveHttp(({ response }) => sendJsonReply(response, status, body));
  const reply = await ask(await open(server.url));
  expect(codeOf(reply)).toBe(expected);
  if (reply.kind === 'failed') expect(reply).toMatchObject({ cause: 'answer', sent: true, httpStatus: status });
});

test('a redirect is an answer; the place it names is never asked', async () => {
  const elsewhere = await serveHttp(good);
  const server = await serveHttp(({ response }) => void response.writeHead(307, { location: elsewhere.url }).end());
  const reply = await ask(await open(server.url, { authorization: 'Bearer mine' }));
  expect(reply).toMatchObject({ kind: 'failed', httpStatus: 307, error: { code: 'UPSTREAM_FAILED' } });
  expect(elsewhere.connections).toBe(0);
});

test.each([
  [404, 'Session not found'],
  [400, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Bad Request: no valid session' } }],
  [400, { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }],
])('%i in a session means that the session is lost and nothing ran', async (status, body) => {
  const server = await serveHttp((received) => {
    const { message, response } = received;
    if (message.method !== 'initialize') sendJsonReply(response, status, body);
    else sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: {} }, { 'mcp-session-id': 'one' });
  });
  const transport = await open(server.url);
  await ask(transport, controlRequest('initialize', {}, 1000));
  expect(await ask(transport)).toMatchObject({
    kind: 'failed',
    cause: 'session',
    sent: false,
    error: { code: 'UPSTREAM_UNAVAILABLE' },
  });
});

test('bad arguments in a session are not a lost session', async () => {
  const server = await serveHttp(({ message, response }) => {
    const error = { jsonrpc: '2.0', id: message.id, error: { code: -32602, message: 'Invalid params' } };
    if (message.method !== 'initialize') sendJsonReply(response, 400, error);
    else sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: {} }, { 'mcp-session-id': 'one' });
  });
  const transport = await open(server.url);
  await ask(transport, controlRequest('initialize', {}, 1000));
  expect(await ask(transport)).toMatchObject({ kind: 'error', code: -32602 });
});

test('a stream carries progress, notifications and questions before the answer', async () => {
  const answers: Received[] = [];
  const server = await serveHttp((received) => {
    const { message, response } = received;
    if (message.method !== 'tools/call') {
      answers.push(received);
      response.writeHead(202).end();
      return;
    }
    const stream = openStream(response);
    const progress = (token: unknown, value: number) =>
      stream.send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: token, progress: value },
      });
    progress(1, 10);
    progress(99, 666);
    progress('1', 667);
    stream.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    stream.send({ jsonrpc: '2.0', id: 'q1', method: 'sampling/createMessage', params: {} });
    stream.send({ jsonrpc: '2.0', id: 5, method: 'ping' });
    stream.send({ jsonrpc: '2.0', id: 2, result: { said: 'to somebody else' } });
    progress(1, 20);
    stream.send({ jsonrpc: '2.0', id: 1, result: { said: 'hi' } });
    progress(1, 668);
    stream.end();
  });
  const events: string[] = [];
  const transport = await open(server.url, {}, events);
  const seen: unknown[] = [];
  const reply = await ask(
    transport,
    callRequest({ handlers: handlers({ progress: (params) => seen.push(params.progress) }) }),
  );
  expect(reply).toMatchObject({ kind: 'result', value: { said: 'hi' } });
  expect(seen).toEqual([10, 20]);
  expect(events).toEqual(['notifications/tools/list_changed']);
  await eventually(() => (answers.length === 2 ? true : undefined), 'both questions to be answered');
  expect(answers.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: 'q1', error: expect.objectContaining({ code: -32601 }) }),
      expect.objectContaining({ id: 5, result: {} }),
    ]),
  );
});

test('answers by stream share one connection', async () => {
  const server = await serveHttp(({ message, response }) => {
    const stream = openStream(response);
    stream.send({ jsonrpc: '2.0', id: message.id, result: { said: message.id } });
    setImmediate(() => stream.end());
  });
  const transport = await open(server.url);
  for (let id = 1; id <= 5; id++) {
    expect(await ask(transport)).toMatchObject({ value: { said: id } });
    await pause(20);
  }
  expect(server.connections).toBe(1);
});

test('a stream that goes on after its answer is hung up', async () => {
  let closed = 0;
  const server = await serveHttp(({ message, response }) => {
    const stream = openStream(response);
    stream.send({ jsonrpc: '2.0', id: message.id, result: {} });
    response.on('close', () => closed++);
  });
  expect(codeOf(await ask(await open(server.url)))).toBe('result');
  await eventually(() => (closed === 1 ? true : undefined), 'the stream to be hung up');
});

test.each([
  ['a stream that ends before the answer', (response: Received['response']) => openStream(response).end()],
  ['a connection that is reset', (response: Received['response']) => response.destroy()],
  [
    'a body that breaks off',
    (response: Received['response']) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
      response.write('{"jsonrpc"');
      setImmediate(() => response.destroy());
    },
  ],
])('%s may have run', async (_what, act) => {
  const server = await serveHttp(({ response }) => void act(response));
  const reply = await ask(await open(server.url));
  expect(reply).toMatchObject({ kind: 'failed', cause: 'connection', sent: true, error: { code: 'UPSTREAM_LOST' } });
});

test('a refused connection has sent nothing', async () => {
  const server = await serveHttp(good);
  await server.close();
  const reply = await ask(await open(server.url));
  expect(reply).toMatchObject({ cause: 'connection', sent: false, error: { code: 'UPSTREAM_UNAVAILABLE' } });
});

test('silence ends at the timeout; a legacy server is told, a modern one is hung up on', async () => {
  let closed = 0;
  const server = await serveHttp(({ message, response }) => {
    if (message.id === undefined) response.writeHead(202).end();
    else response.on('close', () => closed++);
  });
  const transport = await open(server.url);
  expect(codeOf(await ask(transport, callRequest({ timeoutMs: 50 })))).toBe('UPSTREAM_TIMEOUT');
  const notice = await eventually(() => server.received[1], 'the notice');
  expect(notice.message).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
  transport.speak(modernEnvelope(modernVersion, { name: 'q', version: '1' }));
  expect(codeOf(await ask(transport, callRequest({ timeoutMs: 50 })))).toBe('UPSTREAM_TIMEOUT');
  await eventually(() => (closed === 2 ? true : undefined), 'both to be hung up');
  expect(server.received.filter(({ message }) => message.method === 'notifications/cancelled')).toHaveLength(1);
});

test('progress keeps a call alive up to its cap', async () => {
  const server = await serveHttp(({ message, response }) => {
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const stream = openStream(response);
    const timer = setInterval(() => {
      stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: message.id } });
    }, 100);
    response.on('close', () => clearInterval(timer));
  });
  const transport = await open(server.url);
  const seen: unknown[] = [];
  const request = callRequest({
    timeoutMs: 1000,
    maxMs: 1500,
    handlers: handlers({ progress: (params) => seen.push(params) }),
  });
  const reply = await ask(transport, request);
  expect(reply).toMatchObject({ error: { code: 'UPSTREAM_TIMEOUT', message: expect.stringContaining('1.5 s') } });
  expect(seen.length).toBeGreaterThan(4);
});

test('a cancelled call ends with the error of whoever cancelled it', async () => {
  const server = await serveHttp(({ message, response }) => {
    if (message.id === undefined) response.writeHead(202).end();
  });
  const transport = await open(server.url);
  const call = transport.request(callRequest());
  await eventually(() => server.received[0], 'the call to arrive');
  call.cancel(new HubError('CANCELLED', 'by the client'));
  call.cancel(new HubError('CANCELLED', 'twice'));
  expect(await call.reply).toMatchObject({ cause: 'gave-up', error: { message: 'by the client' } });
  const notice = await eventually(() => server.received[1], 'the notice');
  expect(notice.message).toMatchObject({
    method: 'notifications/cancelled',
    params: { requestId: 1, reason: 'by the client' },
  });
});

test('closing lets calls finish, and then nothing is taken', async () => {
  const waiting: Received[] = [];
  const server = await serveHttp((received) => void waiting.push(received));
  const transport = await open(server.url);
  const reply = ask(transport);
  const held = await eventually(() => waiting[0], 'the call to arrive');
  const closing = transport.close();
  await pause(20);
  good(held);
  expect(codeOf(await reply)).toBe('result');
  await within(closing, 'the close');
  expect(await ask(transport)).toMatchObject({ kind: 'failed', cause: 'connection', sent: false });
  void transport.notify('notifications/anything');
  await expect(transport.close()).resolves.toBeUndefined();
});

test('an answer over the bound is given up', async () => {
  const server = await serveHttp(({ response }) => {
    response.on('error', () => {});
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const more = (): void => {
      if (!response.destroyed) response.write(chunk, more);
    };
    more();
  });
  expect(codeOf(await ask(await open(server.url)))).toBe('UPSTREAM_GARBLED');
});

test('a server that is not HTTP at all is lost, not garbled', async () => {
  const server = await serveHttp(({ response }) => {
    response.socket?.end('SSH-2.0-OpenSSH\r\n');
  });
  expect(codeOf(await ask(await open(server.url)))).toBe('UPSTREAM_LOST');
});

test.each(['ftp://127.0.0.1/mcp', 'not a url'])('%s is no address of a server', async (url) => {
  await expect(open(url)).rejects.toMatchObject({ code: 'SERVER_INVALID' });
});

test('a date to come back at counts from the date of the answer', async () => {
  const headers = { date: 'Mon, 16 Nov 2026 05:00:00 GMT', 'retry-after': 'Mon, 16 Nov 2026 05:00:30 GMT' };
  const server = await serveHttp(({ response }) => sendJsonReply(response, 429, {}, headers));
  expect(await ask(await open(server.url))).toMatchObject({ error: { details: { retryAfterMs: 30_000 } } });
});

test('a server that does not speak TLS was sent nothing', async () => {
  const server = await serveHttp(good);
  const reply = await ask(await open(server.url.replace('http:', 'https:')));
  expect(reply).toMatchObject({ sent: false, error: { code: 'UPSTREAM_UNAVAILABLE' } });
  expect(server.received).toEqual([]);
});
