import { expect, onTestFinished, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually, within } from '../../../test/support/within.ts';
import { createSilentLogger, HubError } from '../../base/index.ts';
import { controlRequest, type Wire } from '../wire.ts';
import { sendJson, serveHttp } from './http-server.fixture.ts';
import { createHttpWire } from './http-wire.ts';

async function open(url: string, clock = createMovingClock()): Promise<Wire> {
  const events = { onNotification() {}, onLost() {}, onRefused() {} };
  const deps = { clock, logger: createSilentLogger(), events };
  const wire = await createHttpWire(deps, {
    server: 'files',
    exclusive: false,
    transport: { type: 'http', url, headers: {} },
  });
  onTestFinished(() => within(wire.close(), 'the wire to close'));
  return wire;
}

test(
  verifies(
    'upstream:http-legacy',
    'whatever is posted says what it can take, and a notification is over when it was taken',
  ),
  async () => {
    let take: () => void = () => {};
    const server = await serveHttp(({ message, response }) => {
      if (message.id !== undefined) sendJson(response, 200, { jsonrpc: '2.0', id: message.id, result: {} });
      else take = () => void response.writeHead(202).end();
    });
    const wire = await open(server.url);
    let taken = false;
    const told = wire.notify('notifications/initialized')?.then(() => {
      taken = true;
    });
    await within(wire.request(controlRequest('ping', {}, 10_000)).reply, 'an answer');
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
  const wire = await open('http://127.0.0.1:9/mcp');
  await within(wire.notify('notifications/initialized') ?? Promise.reject(new Error('HTTP can tell')), 'its end');
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
      if (message.method === 'ping') sendJson(response, 200, { jsonrpc: '2.0', id: message.id, result: {} });
    });
    const clock = createMovingClock();
    const wire = await open(server.url, clock);
    const gone = new HubError('CANCELLED', 'The caller is gone.');
    const calls = Array.from({ length: 100 }, () => wire.request(controlRequest('tools/call', {}, 5000)));
    await eventually(() => (server.received.length >= 100 ? true : undefined), 'the calls to arrive');
    for (const call of calls) call.cancel(gone);
    const told = Array.from({ length: 200 }, () => wire.notify('notifications/roots/list_changed'));
    const answered = await within(wire.request(controlRequest('ping', {}, 60_000)).reply, 'an answer beside them');
    expect(answered.kind).toBe('result');
    for (let time = 0; time < 2; time++) clock.advance(10_000);
    await within(Promise.all(told), 'every notification to be given up');
    await eventually(() => (sockets.size <= 1 ? true : undefined), 'their connections to be given back');
    expect((await within(wire.request(controlRequest('ping', {}, 60_000)).reply, 'another answer')).kind).toBe(
      'result',
    );
  },
);
