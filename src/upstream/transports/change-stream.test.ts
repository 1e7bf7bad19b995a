import { expect, onTestFinished, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { eventually, pause, within } from '../../../test/support/within.ts';
import { createSilentLogger } from '../../base/index.ts';
import { controlRequest } from '../transport.ts';
import { streamReopened } from './change-stream.ts';
import { openStream, type Received, sendJsonReply, serveHttp } from './http-server.fixture.ts';
import { createHttpTransport } from './http-transport.ts';

const changed = 'notifications/tools/list_changed';

/** A transport in a session against a server whose GET requests the test answers. */
async function begin(onGet: (received: Received, count: number) => void) {
  let gets = 0;
  const server = await serveHttp((received) => {
    const { message, request, response } = received;
    if (request.method === 'GET') onGet(received, ++gets);
    else if (request.method === 'DELETE') response.writeHead(200).end();
    else sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: {} }, { 'mcp-session-id': 'one' });
  });
  const clock = createMovingClock();
  const events: string[] = [];
  const transport = await createHttpTransport(
    {
      clock,
      logger: createSilentLogger(),
      events: {
        onNotification: (method) => events.push(method),
        onLost: (error) => events.push(error.code),
        onRefused: (error) => events.push(error.code),
      },
    },
    { server: 'files', exclusive: false, spec: { type: 'http', url: server.url, headers: {} } },
  );
  onTestFinished(() => within(transport.close(), 'the transport to close'));
  await transport.request(controlRequest('initialize', {}, 5000)).reply;
  // The time limit of the handshake has its timer until it is over.
  clock.advance(5000);
  void transport.openChangeStream();
  void transport.openChangeStream();
  const asked = (count: number): Promise<true> =>
    eventually(() => {
      if (gets < count) clock.advance(100);
      return gets >= count ? true : undefined;
    }, `GET number ${count}`);
  return { server, clock, transport, events, asked, gets: () => gets };
}

test('changes that the server announces arrive; what else it streams does not disturb', async () => {
  const { server, events } = await begin(({ response }) => {
    const stream = openStream(response);
    response.write(': hello\n\ndata: this is not JSON\n\n');
    stream.send({ jsonrpc: '2.0', id: 1, result: {} });
    stream.send({ jsonrpc: '2.0', method: changed });
  });
  await eventually(() => events[0], 'the announcement');
  expect(events).toEqual([changed]);
  const get = server.received.find(({ request }) => request.method === 'GET');
  expect(get?.request.headers).toMatchObject({ accept: 'text/event-stream', 'mcp-session-id': 'one' });
});

test.each([405, 404, 400, 406])(
  'a server that answers %i has no such stream and is not asked again',
  async (status) => {
    const { clock, events, asked, gets } = await begin(({ response }) => void response.writeHead(status).end());
    await asked(1);
    await pause(50);
    clock.advance(600_000);
    await pause(50);
    expect(gets()).toBe(1);
    expect(events).toEqual([]);
    expect(clock.waiting).toBe(0);
  },
);

test('a stream that ends is opened again, and what changed meanwhile is asked for', async () => {
  const { events, asked } = await begin(({ response }, count) => {
    const stream = openStream(response);
    if (count === 1) setImmediate(() => stream.end());
  });
  await asked(2);
  await eventually(() => events[0], 'the gap');
  expect(events).toEqual([streamReopened]);
});

test('a stream that numbers its events goes on after the last one, when the server wishes', async () => {
  const { server, clock, events, asked, gets } = await begin(({ response }, count) => {
    openStream(response);
    const message = JSON.stringify({ jsonrpc: '2.0', method: count === 1 ? changed : `${changed}/2` });
    response.write(`id: ${count}\nretry: 5000\ndata: ${message}\n\n`);
    if (count === 1) setImmediate(() => response.destroy());
  });
  await eventually(() => (clock.waiting === 1 ? true : undefined), 'the wait');
  clock.advance(4500);
  await pause(30);
  expect(gets()).toBe(1);
  await asked(2);
  await eventually(() => events[2], 'the second event');
  expect(events).toEqual([changed, streamReopened, `${changed}/2`]);
  const ids = server.received.map(({ request }) => request.headers['last-event-id']);
  expect(ids).toEqual([undefined, undefined, '1']);
});

test('a server that still sees the old stream is asked again, and one that forgot its place for a new one', async () => {
  const { server, asked } = await begin(({ response }, count) => {
    if (count === 2 || count === 3) {
      response.writeHead(count === 2 ? 409 : 400).end();
      return;
    }
    openStream(response);
    if (count > 1) return;
    response.write('id: 1\ndata: \n\n');
    setImmediate(() => response.end());
  });
  await asked(4);
  const ids = server.received.map(({ request }) => request.headers['last-event-id']);
  expect(ids).toEqual([undefined, undefined, '1', '1', undefined]);
});

test('a server in trouble is asked ever less often', async () => {
  const { clock, asked, gets } = await begin(({ response }) => void response.writeHead(503).end());
  await asked(1);
  for (const [count, waitMs] of [
    [2, 1000],
    [3, 2000],
    [4, 4000],
  ] as const) {
    await eventually(() => (clock.waiting === 1 ? true : undefined), 'the wait');
    clock.advance(waitMs - 500);
    await pause(30);
    expect(gets()).toBe(count - 1);
    await asked(count);
  }
});

test('a stream that cannot be opened again because the session is gone tells so', async () => {
  const { events, asked } = await begin(({ response }, count) => {
    if (count === 1) setImmediate(() => openStream(response).end());
    else response.writeHead(404).end();
  });
  await asked(2);
  await eventually(() => events[0], 'the loss');
  expect(events).toEqual(['UPSTREAM_UNAVAILABLE']);
});

test('an announcement without end is hung up', async () => {
  let closed = 0;
  const { asked } = await begin(({ response }) => {
    openStream(response);
    response.write(`data: ${'x'.repeat(3 * 1024 * 1024)}`);
    response.on('close', () => closed++);
  });
  await asked(1);
  await eventually(() => (closed === 1 ? true : undefined), 'the stream to be hung up');
});

test('closing the transport closes the stream and leaves no timer', async () => {
  let closed = 0;
  const { transport, clock, asked } = await begin(({ response }) => {
    openStream(response);
    response.on('close', () => closed++);
  });
  await asked(1);
  await pause(30);
  await within(transport.close(), 'the close');
  await eventually(() => (closed === 1 ? true : undefined), 'the stream to close');
  expect(clock.waiting).toBe(0);
});
