import { expect, onTestFinished, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually, within } from '../../../test/support/within.ts';
import { createSilentLogger, HubError } from '../../base/index.ts';
import { controlRequest, type Transport } from '../transport.ts';
import { sendJsonReply, serveHttp } from './http-server.fixture.ts';
import { createHttpTransport } from './http-transport.ts';

async function open(url: string, clock = createMovingClock()): Promise<Transport> {
  const events = { onNotification() {}, onLost() {}, onRefused() {} };
  const deps = { clock, logger: createSilentLogger(), events };
  const transport = await createHttpTransport(deps, {
    server: 'files',
    exclusive: false,
    spec: { type: 'http', url, headers: {} },
  });
  onTestFinished(() => within(transport.close(), 'the transport to close'));
  return transport;
}

test(
  verifies(
    'upstream:http-legacy',
    'whatever is posted says what it can take, and a notification is over when it was taken',
  ),
  async () => {
    let take: () => void = () => {};
    const server = await serveHttp(({ message, response }) => {
      if (message.id !== undefined) sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: {} });
      else take = () => void response.writeHead(202).end();
    });
    const transport = await open(server.url);
    let taken = false;
    const told = transport.notify('notifications/initialized')?.then(() => {
      taken = true;
    });
    await within(transport.request(controlRequest('ping', {}, 10_000)).reply, 'an answer');
    await eventually(() => server.received[1], 'both messages');
    expect(taken).toBe(false);
    for (const { request } of server.received) {
      expect(request.headers.accept).toBe('application/json, text/event-stream');
    }
    take();
    await within(told ?? Promise.reject(new Error('HTTP can tell')), 'the notification to be taken');
    expect(taken).toBe(true);
  },
);

test('a notification that nobody takes is over too', async () => {
  const transport = await open('http://127.0.0.1:9/mcp');
  await within(transport.notify('notifications/initialized') ?? Promise.reject(new Error('HTTP can tell')), 'its end');
});

test(
  verifies(
    'upstream:gives-back',
    'three hundred messages that the server leaves unanswered cost no call its connection',
  ),
  async () => {
    const sockets = new Set<unknown>();
    const server = await serveHttp(({ message, request, response }) => {
      sockets.add(request.socket);
      request.socket.once('close', () => sockets.delete(request.socket));
      if (message.method === 'ping') sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: {} });
    });
    const clock = createMovingClock();
    const transport = await open(server.url, clock);
    const gone = new HubError('CANCELLED', 'The caller is gone.');
    const calls = Array.from({ length: 100 }, () => transport.request(controlRequest('tools/call', {}, 5000)));
    await eventually(() => (server.received.length >= 100 ? true : undefined), 'the calls to arrive');
    for (const call of calls) call.cancel(gone);
    const told = Array.from({ length: 200 }, () => transport.notify('notifications/roots/list_changed'));
    const answered = await within(transport.request(controlRequest('ping', {}, 60_000)).reply, 'an answer beside them');
    expect(answered.kind).toBe('result');
    for (let time = 0; time < 2; time++) clock.advance(10_000);
    await within(Promise.all(told), 'every notification to be given up');
    await eventually(() => (sockets.size <= 1 ? true : undefined), 'their connections to be given back');
    expect((await within(transport.request(controlRequest('ping', {}, 60_000)).reply, 'another answer')).kind).toBe(
      'result',
    );
  },
);

test(
  verifies('upstream:gives-back', 'more notifications left open than there are connections for calls delay no call'),
  async () => {
    const server = await serveHttp(({ message, response }) => {
      if (message.method === 'ping') sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: {} });
    });
    const clock = createMovingClock();
    const transport = await open(server.url, clock);
    // Nothing is given up meanwhile.
    onTestFinished(clock.hold());
    for (let count = 0; count < 200; count++) void transport.notify('notifications/roots/list_changed');
    await eventually(() => (server.received.length >= 8 ? true : undefined), 'the first notifications');
    const ping = within(transport.request(controlRequest('ping', {}, 60_000)).reply, 'an answer', 5000);
    expect((await ping).kind).toBe('result');
    expect(server.received.filter(({ message }) => message.id === undefined).length).toBeLessThan(128);
  },
);

test('a call that ran out of time while it waited for a connection is never sent', async () => {
  const server = await serveHttp(({ message, response }) => {
    if (message.method === 'ping') sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: {} });
  });
  const clock = createMovingClock();
  const transport = await open(server.url, clock);
  const hanging = Array.from({ length: 128 }, () => transport.request(controlRequest('tools/call', {}, 600_000)));
  await eventually(() => (server.received.length === 128 ? true : undefined), 'all connections to be taken');
  const queued = transport.request(controlRequest('tools/call', { name: 'late' }, 1000));
  clock.advance(1100);
  expect(await within(queued.reply, 'its end')).toMatchObject({ kind: 'failed', error: { code: 'UPSTREAM_TIMEOUT' } });
  for (const call of hanging) call.cancel(new HubError('CANCELLED', 'enough'));
  // Each free connection takes the next request of the queue, so what was queued earlier would have come by now.
  for (let count = 0; count < 130; count++) {
    await within(transport.request(controlRequest('ping', {}, 60_000)).reply, 'an answer');
  }
  const arrived = server.received.map(({ text }) => text).filter((text) => text.includes('late'));
  expect(arrived).toEqual([]);
});
