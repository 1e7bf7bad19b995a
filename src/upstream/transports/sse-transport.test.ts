import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually, pause, within } from '../../../test/support/within.ts';
import { createSilentLogger, createSystemClock, HubError } from '../../base/index.ts';
import { handlers } from '../request-handlers.fixture.ts';
import {
  controlRequest,
  legacyEnvelope,
  type Transport,
  type UpstreamReply,
  type UpstreamRequest,
} from '../transport.ts';
import { type HttpServer, type Received, sendJsonReply, serveHttp } from './http-server.fixture.ts';
import { createSseTransport } from './sse-transport.ts';

interface Scene {
  readonly transport: Transport;
  readonly server: HttpServer;
  readonly events: string[];
  /** Messages that were posted, oldest first. */
  posted(): Received['message'][];
  say(message: object | string, event?: string): void;
  hangUp(): void;
}

interface SceneOptions {
  /** Null: none is named, the test does it. */
  readonly endpoint?: string | null;
  onPost?(received: Received, scene: Scene): void;
}

/** A server of the test's own, and a transport to it. */
async function begin(options: SceneOptions = {}): Promise<Scene> {
  const { endpoint = '/messages?sessionId=1', onPost = taken } = options;
  let stream: ServerResponse | undefined;
  const server = await serveHttp((received) => {
    const { request, response } = received;
    if (request.method !== 'GET') {
      onPost(received, scene);
      return;
    }
    stream = response;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    if (endpoint !== null) response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
  });
  const events: string[] = [];
  const transport = await openTransport(server.url, events);
  const scene: Scene = {
    transport,
    server,
    events,
    posted: () => server.received.filter(({ request }) => request.method === 'POST').map(({ message }) => message),
    say(message, event = 'message') {
      const data = typeof message === 'string' ? message : JSON.stringify(message);
      stream?.write(`event: ${event}\ndata: ${data}\n\n`);
    },
    hangUp: () => stream?.destroy(),
  };
  await eventually(() => stream !== undefined, 'the stream');
  return scene;
}

async function openTransport(url: string, events: string[] = []): Promise<Transport> {
  const transport = await createSseTransport(
    {
      clock: createSystemClock(),
      logger: createSilentLogger(),
      events: {
        onNotification: (method) => events.push(method),
        onLost: (error) => events.push(error.code),
        onRefused: (error) => events.push(`refused ${error.code}`),
      },
    },
    { server: 'files', exclusive: false, spec: { type: 'sse', url, headers: { authorization: 'Bearer mine' } } },
  );
  onTestFinished(() => within(transport.close(), 'the transport to close'));
  return transport;
}

function taken({ response }: Received): void {
  response.writeHead(202).end('Accepted');
}

function answered(received: Received, scene: Scene): void {
  taken(received);
  const { id } = received.message;
  if (id !== undefined) scene.say({ jsonrpc: '2.0', id, result: { said: 'hi' } });
}

function callRequest(more: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    ...controlRequest('tools/call', { name: 'echo', arguments: {} }, 10_000),
    name: 'echo',
    ...more,
  };
}

async function ask(transport: Transport, request: UpstreamRequest = callRequest()): Promise<UpstreamReply> {
  return within(transport.request(request).reply, 'a reply');
}

function codeOf(reply: UpstreamReply): string {
  return reply.kind === 'failed' ? `${reply.error.code} ${reply.sent ? 'sent' : 'unsent'}` : reply.kind;
}

test('a message is posted where the server said, with the configured headers; the answer comes by its id', async () => {
  const { transport, server } = await begin({ onPost: answered });
  expect(transport.proven).toBe(false);
  expect(await ask(transport, controlRequest('initialize', {}, 5000))).toMatchObject({ kind: 'result' });
  expect(transport.proven).toBe(false);
  transport.speak(legacyEnvelope('2024-11-05'));
  expect(await ask(transport)).toMatchObject({ kind: 'result', value: { said: 'hi' } });
  expect(transport).toMatchObject({ kind: 'sse', proven: true, sessionId: null });
  const [get, first, second] = server.received.map(({ request }) => request);
  expect([get?.method, get?.url]).toEqual(['GET', '/mcp?team=a']);
  expect(get?.headers).toMatchObject({ accept: 'text/event-stream', authorization: 'Bearer mine' });
  expect([first?.method, first?.url]).toEqual(['POST', '/messages?sessionId=1']);
  expect(first?.headers).toMatchObject({ 'content-type': 'application/json', authorization: 'Bearer mine' });
  expect(first?.headers).not.toHaveProperty('mcp-protocol-version');
  expect(second?.headers).toMatchObject({ 'mcp-protocol-version': '2024-11-05' });
});

test('requests wait until the endpoint is known; a second endpoint changes nothing', async () => {
  const { transport, server, say } = await begin({ endpoint: null, onPost: answered });
  const reply = ask(transport);
  const unwanted = transport.request(callRequest());
  unwanted.cancel(new HubError('CANCELLED', 'never mind'));
  expect(codeOf(await unwanted.reply)).toBe('CANCELLED unsent');
  say('messages/first', 'endpoint');
  say('/messages/second', 'endpoint');
  expect(codeOf(await reply)).toBe('result');
  expect(server.received.slice(1).map(({ request }) => request.url)).toEqual(['/messages/first']);
});

test('nothing overtakes the end of the handshake', async () => {
  const waiting: Received[] = [];
  const { transport, posted } = await begin({
    onPost(received, scene) {
      if (received.message.method === 'notifications/initialized') waiting.push(received);
      else answered(received, scene);
    },
  });
  await ask(transport, controlRequest('initialize', {}, 5000));
  void transport.notify('notifications/initialized');
  const reply = ask(transport);
  await eventually(() => waiting.length > 0, 'the notification');
  await pause(50);
  expect(posted().map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized']);
  for (const received of waiting) taken(received);
  expect(codeOf(await reply)).toBe('result');
});

test('the server is answered what it asks, but not without end', async () => {
  const { transport, posted, say, events } = await begin({ onPost() {} });
  say({ jsonrpc: '2.0', id: 'p', method: 'ping' });
  say({ jsonrpc: '2.0', id: 7, method: 'sampling/createMessage' });
  say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  await eventually(() => posted().length === 2 && events.length === 1, 'two answers');
  expect(posted()).toEqual(
    expect.arrayContaining([
      { jsonrpc: '2.0', id: 'p', result: {} },
      { jsonrpc: '2.0', id: 7, error: { code: -32601, message: 'Not offered by this client' } },
    ]),
  );
  for (let n = 0; n < 500; n++) say({ jsonrpc: '2.0', id: n, method: 'ping' });
  await eventually(() => posted().length === 64, 'as many as may wait');
  await pause(100);
  expect(posted()).toHaveLength(64);
  expect(transport.proven).toBe(false);
});

test('a server that takes nothing gets only so much to take', async () => {
  const { transport } = await begin({ onPost() {} });
  const big = callRequest({ members: `"name":"echo","arguments":{"text":"${'x'.repeat(9 * 1024 * 1024)}"}` });
  const calls = [transport.request(big), transport.request(big)];
  expect(codeOf(await ask(transport, big))).toBe('OVERLOADED unsent');
  for (const call of calls) call.cancel(new HubError('CANCELLED', 'enough'));
  const after = transport.request(callRequest());
  after.cancel(new HubError('CANCELLED', 'enough'));
  expect((await after.reply).kind === 'failed' && codeOf(await after.reply)).toMatch(/^CANCELLED/);
});

test('a stream that ends takes what was sent with it, and is told once', async () => {
  const { transport, hangUp, events, posted } = await begin();
  const sent = transport.request(callRequest());
  await eventually(() => posted().length === 1, 'the call');
  hangUp();
  expect(codeOf(await within(sent.reply, 'the loss'))).toBe('UPSTREAM_LOST sent');
  expect(codeOf(await ask(transport))).toBe('UPSTREAM_UNAVAILABLE unsent');
  expect(events).toEqual(['UPSTREAM_UNAVAILABLE']);
});

test(verifies('ledger:connection', 'an answer has the status of the stream that brought it'), async () => {
  const { transport } = await begin({ onPost: answered });
  expect(await ask(transport)).toMatchObject({ kind: 'result', httpStatus: 200 });
  const refusing = await begin({
    onPost(received, scene) {
      taken(received);
      scene.say({ jsonrpc: '2.0', id: received.message.id, error: { code: -32000, message: 'no' } });
    },
  });
  expect(await ask(refusing.transport)).toMatchObject({ kind: 'error', httpStatus: 200 });
});

test(verifies('ledger:connection', 'a call without an answer has the status with which it was taken'), async () => {
  const { transport, hangUp, posted } = await begin();
  const [first, second] = [transport.request(callRequest()), transport.request(callRequest())];
  await eventually(() => posted().length === 2 && transport.queuedBytes === 0, 'both to be taken');
  first.cancel(new HubError('CANCELLED', 'enough'));
  expect(await first.reply).toMatchObject({ kind: 'failed', httpStatus: 202 });
  hangUp();
  expect(await within(second.reply, 'the loss')).toMatchObject({ kind: 'failed', httpStatus: 202 });
});

test('a stream that ends before it said where to post has sent nothing', async () => {
  const { transport, hangUp } = await begin({ endpoint: null });
  const reply = ask(transport);
  hangUp();
  expect(codeOf(await reply)).toBe('UPSTREAM_UNAVAILABLE unsent');
});

test('silence ends at the timeout, progress keeps a call alive up to its cap, and the server is told', async () => {
  const { transport, say, posted } = await begin();
  const seen: unknown[] = [];
  expect(codeOf(await ask(transport, callRequest({ timeoutMs: 50 })))).toBe('UPSTREAM_TIMEOUT sent');
  const long = transport.request(
    callRequest({
      timeoutMs: 700,
      maxMs: 1500,
      handlers: handlers({ progress: ({ progress }) => void seen.push(progress) }),
    }),
  );
  const talk = setInterval(() => {
    say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 2, progress: seen.length } });
    say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 99, progress: 0 } });
  }, 50);
  onTestFinished(() => clearInterval(talk));
  expect(await within(long.reply, 'the cap')).toMatchObject({
    error: { message: expect.stringContaining('within 1.5 s') },
  });
  expect(seen.length).toBeGreaterThan(4);
  await eventually(() => posted().filter(({ method }) => method === 'notifications/cancelled').length === 2, 'both');
});

test('closing lets calls finish, then nothing is taken, and nobody is told of a loss', async () => {
  const { transport, say, events, posted } = await begin();
  const call = transport.request(callRequest());
  await eventually(() => posted().length === 1, 'the call');
  const closed = transport.close();
  say({ jsonrpc: '2.0', id: 1, result: {} });
  expect(codeOf(await within(call.reply, 'the answer'))).toBe('result');
  await within(closed, 'the close');
  expect(codeOf(await ask(transport))).toBe('UPSTREAM_UNAVAILABLE unsent');
  expect(events).toEqual([]);
});

test.each([
  [401, 'UPSTREAM_NEEDS_LOGIN sent', ['refused UPSTREAM_NEEDS_LOGIN']],
  [451, 'UPSTREAM_FORBIDDEN sent', ['refused UPSTREAM_FORBIDDEN']],
  [429, 'UPSTREAM_THROTTLED sent', []],
  [503, 'UPSTREAM_FAILED sent', []],
  [404, 'UPSTREAM_UNAVAILABLE unsent', []],
])('a message that is answered %s: %s', async (status, code, told) => {
  const { transport, events } = await begin({
    onPost: ({ response }) => sendJsonReply(response, status, {}, { 'retry-after': '3' }),
  });
  const reply = await ask(transport);
  expect(codeOf(reply)).toBe(code);
  expect(reply).toMatchObject({ httpStatus: status });
  expect(events).toEqual(told);
});

test('an answer over the bound ends the stream; many below it do not', async () => {
  const { transport, say, events } = await begin({ onPost: answered });
  const megabyte = 'x'.repeat(1024 * 1024);
  for (let n = 0; n < 70; n++) say(megabyte, 'noise');
  expect(codeOf(await ask(transport))).toBe('result');
  say(`"${megabyte.repeat(65)}"`);
  await eventually(() => events.length > 0, 'the loss');
  expect(events).toEqual(['UPSTREAM_UNAVAILABLE']);
});

test.each([
  ['a page', (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
  ['a redirect', (response: ServerResponse) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()],
])('%s instead of a stream', async (_what, answer) => {
  const server = await serveHttp(({ response }) => void answer(response));
  const reply = await ask(await openTransport(server.url));
  expect(codeOf(reply)).toMatch(/^UPSTREAM_(GARBLED|FAILED)/);
  expect(server.received).toHaveLength(1);
});

test('a server that is not HTTP at all cannot be reached', async () => {
  const server = createServer((socket) => socket.end('SSH-2.0-no\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  expect(codeOf(await ask(await openTransport(`http://127.0.0.1:${address.port}/sse`)))).toBe(
    'UPSTREAM_UNAVAILABLE unsent',
  );
});
