import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually, pause, within } from '../../../test/support/within.ts';
import { createSilentLogger, HubError } from '../../base/index.ts';
import { modernVersion } from '../../mcp/index.ts';
import { handlers } from '../request-handlers.fixture.ts';
import { controlRequest, modernEnvelope, type RequestHandlers, type UpstreamReply } from '../transport.ts';
import { type HttpServer, type Received, sendJsonReply, serveHttp } from './http-server.fixture.ts';
import { createHttpTransport } from './http-transport.ts';

/** What the server does with the POST of the call, and with each GET that follows. */
interface Script {
  onCall(response: ServerResponse): void;
  onGet(response: ServerResponse, count: number): void;
}

/** A transport in a session whose calls get streams that the test writes itself. */
async function begin(script: Script) {
  let gets = 0;
  const server = await serveHttp(({ request, response, message }) => {
    if (request.method === 'GET') script.onGet(response, ++gets);
    else if (request.method === 'DELETE') response.writeHead(200).end();
    else if (message.method === 'tools/call') script.onCall(response);
    else if (message.method === 'initialize') {
      sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: {} }, { 'mcp-session-id': 'one' });
    } else response.writeHead(202).end();
  });
  const clock = createMovingClock();
  const transport = await createHttpTransport(
    { clock, logger: createSilentLogger(), events: { onNotification() {}, onLost() {}, onRefused() {} } },
    { server: 'files', exclusive: false, spec: { type: 'http', url: server.url, headers: {} } },
  );
  onTestFinished(() => within(transport.close(), 'the transport to close'));
  await transport.request(controlRequest('initialize', {}, 100_000)).reply;
  const call = (ears?: RequestHandlers) =>
    transport.request({ ...controlRequest('tools/call', {}, 3_600_000), maxMs: 7_200_000, handlers: ears });
  /** Lets the pauses between attempts pass. */
  const reply = (answer: Promise<UpstreamReply>): Promise<UpstreamReply> => {
    let come: UpstreamReply | undefined;
    void answer.then((settled) => {
      come = settled;
    });
    return eventually(() => {
      clock.advance(1000);
      return come;
    }, 'the reply');
  };
  return { server, clock, transport, call, reply, gets: () => gets };
}

function stream(response: ServerResponse, ...events: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(events.join(''));
}

function event(id: string, message: object): string {
  return `id: ${id}\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
}

const primed = 'id: p\nretry: 3000\ndata: \n\n';
const answer = event('9', { id: 2, result: { said: 'hi' } });
const cut = (response: ServerResponse): void => void setImmediate(() => response.destroy());

const of = (server: HttpServer, method: string): readonly Received[] =>
  server.received.filter(({ request }) => request.method === method);

const calls = (server: HttpServer): number =>
  server.received.filter(({ message }) => message.method === 'tools/call').length;

test.each([
  ['ended', (response: ServerResponse) => void response.end()],
  ['cut', cut],
])(verifies('upstream:resume', 'the answer of a stream that was %s is read on another'), async (_, close) => {
  const { server, call, reply } = await begin({
    onCall(response) {
      stream(response, primed);
      close(response);
    },
    onGet: (response) => stream(response, answer),
  });
  expect(await reply(call().reply)).toMatchObject({ kind: 'result', value: { said: 'hi' } });
  const [get] = of(server, 'GET');
  expect(get?.request.headers).toMatchObject({
    accept: 'text/event-stream',
    'last-event-id': 'p',
    'mcp-session-id': 'one',
  });
  expect(calls(server)).toBe(1);
});

test('the server is left alone for as long as it wishes', async () => {
  const { clock, call, gets } = await begin({
    onCall: (response) => {
      stream(response, primed);
      response.end();
    },
    onGet: (response) => stream(response, answer),
  });
  const { reply } = call();
  // The time limits have one timer, the pause another.
  await eventually(() => (clock.waiting === 2 ? true : undefined), 'the pause');
  clock.advance(2500);
  await pause(50);
  expect(gets()).toBe(0);
  clock.advance(500);
  expect(await within(reply, 'the reply')).toMatchObject({ kind: 'result' });
});

test('progress, logs and questions arrive over every stream, in order and once', async () => {
  const heard: unknown[] = [];
  const progress = (count: number): object => ({
    method: 'notifications/progress',
    params: { progressToken: 2, progress: count },
  });
  const { server, call, reply } = await begin({
    onCall: (response) => {
      stream(response, primed, event('1', progress(1)), 'id: never\ndata: {"jsonrpc"');
      cut(response);
    },
    onGet(response, count) {
      if (count === 1) stream(response, event('2', progress(2)));
      else if (count === 2) stream(response, event('3', { method: 'notifications/message', params: { data: 'x' } }));
      else stream(response, event('4', { id: 7, method: 'roots/list' }), answer);
      if (count < 3) cut(response);
    },
  });
  const ears = handlers({
    progress: (params) => heard.push(params.progress),
    log: (params) => heard.push(params.data),
    ask: ({ method }) => {
      heard.push(method);
      return Promise.resolve({ kind: 'result', text: '{"roots":[]}' });
    },
  });
  expect(await reply(call(ears).reply)).toMatchObject({ kind: 'result' });
  expect(heard).toEqual([1, 2, 'x', 'roots/list']);
  expect(of(server, 'GET').map(({ request }) => request.headers['last-event-id'])).toEqual(['1', '2', '3']);
  await eventually(() => server.received.find(({ message }) => message.id === 7), 'the answer to the question');
});

test('an attempt that fails in passing is followed by another, with the same id', async () => {
  const { server, call, reply } = await begin({
    onCall: (response) => {
      stream(response, primed);
      cut(response);
    },
    onGet(response, count) {
      if (count === 1) response.writeHead(503).end();
      else if (count === 2) response.destroy();
      else if (count === 3) response.writeHead(409).end();
      else if (count === 4) response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
      else stream(response, answer);
    },
  });
  expect(await reply(call().reply)).toMatchObject({ kind: 'result' });
  expect(of(server, 'GET').map(({ request }) => request.headers['last-event-id'])).toEqual(Array(5).fill('p'));
});

test('a server that needs seconds to notice the loss is asked ever more slowly, and not given up', async () => {
  const { clock, call, gets } = await begin({
    onCall: (response) => {
      stream(response, 'id: p\nretry: 100\ndata: \n\n');
      cut(response);
    },
    onGet(response, count) {
      if (count < 10) response.writeHead(409).end();
      else stream(response, answer);
    },
  });
  const release = clock.hold();
  onTestFinished(release);
  const { reply } = call();
  const pauses: number[] = [];
  while (pauses.length < 10) {
    const count = pauses.length;
    await eventually(() => (clock.waiting === 2 && gets() === count ? true : undefined), `pause ${count + 1}`);
    pauses.push(Math.round(clock.nextDueMs));
    clock.advance(clock.nextDueMs);
    await eventually(() => (gets() > count ? true : undefined), `attempt ${count + 1}`);
  }
  expect(await within(reply, 'the reply')).toMatchObject({ kind: 'result' });
  expect(pauses).toEqual([100, 100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000]);
});

test.each([
  ['does not keep streams', 405, 1],
  ['forgot the session', 404, 1],
  ['stays away', 503, 10],
])('a server that %s has lost the call, and nothing is sent again', async (_, status, attempts) => {
  const { server, call, reply, gets } = await begin({
    onCall: (response) => {
      stream(response, primed);
      cut(response);
    },
    onGet: (response) => void response.writeHead(status).end(),
  });
  expect(await reply(call().reply)).toMatchObject({
    kind: 'failed',
    cause: 'gave-up',
    sent: true,
    error: { code: 'UPSTREAM_LOST' },
  });
  expect([gets(), calls(server)]).toEqual([attempts, 1]);
});

test('a stream without ids, or in the era without resuming, is lost with its connection', async () => {
  let first = ': hello\n\n';
  const { transport, call, reply, gets } = await begin({
    onCall: (response) => {
      stream(response, first);
      cut(response);
    },
    onGet: (response) => stream(response, answer),
  });
  const lost = { kind: 'failed', cause: 'connection', error: { code: 'UPSTREAM_LOST' } };
  expect(await reply(call().reply)).toMatchObject(lost);
  first = primed;
  transport.speak(modernEnvelope(modernVersion, { name: 'test', version: '1' }));
  expect(await reply(call().reply)).toMatchObject(lost);
  expect(gets()).toBe(0);
});

test.each([0, 1])('a cancelled call is not resumed any more, and leaves no timer; streams open: %i', async (open) => {
  let closed = 0;
  const { server, clock, call, gets } = await begin({
    onCall: (response) => {
      stream(response, primed);
      cut(response);
    },
    onGet: (response) => {
      stream(response, ': here\n\n');
      response.once('close', () => closed++);
    },
  });
  const running = call();
  await eventually(() => (clock.waiting === 2 ? true : undefined), 'the pause');
  if (open === 1) {
    clock.advance(3000);
    await eventually(() => (gets() === 1 ? true : undefined), 'the stream');
  }
  running.cancel(new HubError('CANCELLED', 'enough'));
  expect(await within(running.reply, 'the reply')).toMatchObject({ kind: 'failed', error: { code: 'CANCELLED' } });
  await eventually(() => (closed === open ? true : undefined), 'the stream to be hung up');
  expect([gets(), clock.waiting]).toEqual([open, 1]);
  await eventually(
    () => server.received.find(({ message }) => message.method === 'notifications/cancelled'),
    'the cancellation',
  );
});
