import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { echoServer, gatewayForTest } from '../../support/gateway.ts';
import { initializeRequest, legacyClient, modernClient } from '../../support/mcp-clients.ts';
import { ask } from '../../support/mcp-http.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { connectTo } from '../../support/raw-socket.ts';
import { openSession, servedWorkspace } from '../../support/served-hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

/** Nobody's connections and sessions cost others theirs. */
function halfOpen(origin: string, said: string): Socket {
  const socket = connectTo(origin);
  socket.on('error', () => {}).resume();
  socket.write(said);
  onTestFinished(() => void socket.destroy());
  return socket;
}

const gone = (socket: Socket): Promise<unknown> => (socket.destroyed ? Promise.resolve() : once(socket, 'close'));
const unfinished = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ';

test(verifies('http:connection-bounds', '1,500 half-open connections leave a hub of 1,024 descriptors to its agents'), {
  timeout: 120_000,
}, async () => {
  const workspace = await servedWorkspace({ servers: { echo: echoServer } });
  const hub = await workspace.serve({ openFiles: 1024 });
  const { token } = (await workspace.qm('token', 'issue', '--agent', 'tester')) as { token: string };
  const { origin } = new URL(hub.url);
  const before = await openSession(hub.url, token);
  expect((await before.call('echo', { message: 'before' }))?.status).toBe(200);
  const sockets: Socket[] = [];
  for (let round = 0; round < 15; round++) {
    const fresh = Array.from({ length: 100 }, () => halfOpen(origin, round % 2 === 0 ? '' : unfinished));
    sockets.push(...fresh);
    await within(Promise.all(fresh.map((socket) => once(socket, 'connect'))), '100 connections');
    const answer = await before.call('echo', { message: String(round) });
    expect([round, answer?.result?.content?.[0]?.text]).toEqual([round, String(round)]);
    expect([round, (await ask(`${origin}/healthz`)).status]).toEqual([round, 200]);
  }
  const after = await openSession(hub.url, token);
  expect((await after.call('echo', { message: 'after' }))?.status).toBe(200);
  await eventually(() => sockets.filter(({ destroyed }) => !destroyed).length <= 256 || undefined, 'room to be made');
  await Promise.all([before.close(), after.close()]);
  for (const socket of sockets) socket.destroy();
  expect(await hub.kill('SIGTERM')).toBe(0);
});

describe('a connection without a valid token', () => {
  const limits = { total: 20, unauthenticated: 4, unauthenticatedPerAddress: 4, perOwner: 6 };

  test('makes room for the next, and never takes that of one with a token', async () => {
    const hub = await gatewayForTest({}, { limits });
    const token = await hub.token();
    const stream = await (await legacyClient(hub.url, token)).listen();
    const sockets = Array.from({ length: 12 }, () => halfOpen(hub.origin, unfinished));
    await within(Promise.all(sockets.slice(0, 8).map(gone)), 'the oldest to go');
    const answer = await ask(hub.url, { headers: { authorization: `Bearer ${token}` }, body: initializeRequest() });
    expect(answer.status).toBe(200);
    expect(stream.text()).not.toBe('');
    stream.close();
  });

  test('has a while to show one, also when it asks for what is open to all', async () => {
    const clock = createMovingClock();
    const hub = await gatewayForTest({}, { clock, limits });
    const probe = halfOpen(hub.origin, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(probe, 'data');
    const stream = await (await legacyClient(hub.url, await hub.token())).listen();
    clock.advance(31_000);
    await within(gone(probe), 'the connection to end');
    expect(stream.text()).not.toBe('');
    stream.close();
  });

  test('is one again when its last request had none', async () => {
    const hub = await gatewayForTest({}, { limits });
    const token = await hub.token();
    const head = 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const good = `DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const [stays, goes] = [halfOpen(hub.origin, good), halfOpen(hub.origin, good)];
    await Promise.all([once(stays, 'data'), once(goes, 'data')]);
    goes.write(head);
    await once(goes, 'data');
    const others = Array.from({ length: 4 }, () => halfOpen(hub.origin, ''));
    await within(gone(goes), 'the one without a token to go');
    expect(stays.destroyed).toBe(false);
    expect(others.some(({ destroyed }) => destroyed)).toBe(false);
  });
});

describe('one agent', () => {
  const limits = { total: 100, unauthenticated: 50, unauthenticatedPerAddress: 50, perOwner: 6 };

  test('that opens many connections loses its own idle ones, and is told when all are busy', async () => {
    const hub = await gatewayForTest({}, { limits });
    const [mine, other] = [await hub.token(), await hub.token('other')];
    const tokens = [mine, await hub.token()];
    const get = (token = ''): string =>
      `GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const theirs = await (await legacyClient(hub.url, other)).listen();
    const idle = Array.from({ length: 10 }, (_, index) => halfOpen(hub.origin, get(tokens[index % 2])));
    await eventually(() => idle.filter(({ destroyed }) => destroyed).length === 4 || undefined, 'four to go');
    const listen = { notifications: { toolsListChanged: true } };
    const streams = [];
    for (let count = 0; count < 6; count++) {
      streams.push(await modernClient(hub.url, mine).stream('subscriptions/listen', listen));
    }
    const answer = await modernClient(hub.url, mine).request('tools/list');
    expect([answer.status, answer.message.error?.data?.code]).toEqual([503, 'OVERLOADED']);
    expect((await modernClient(hub.url, other).request('tools/list')).status).toBe(200);
    expect(theirs.text()).not.toBe('');
    for (const stream of [...streams, theirs]) stream.close();
  });

  test(verifies('http:session-bounds', 'that opens 1,200 sessions ends nobody else’s'), async () => {
    const hub = await gatewayForTest({ servers: {} });
    const other = await legacyClient(hub.url, await hub.token('other'));
    const headers = { authorization: `Bearer ${await hub.token()}` };
    for (let round = 0; round < 12; round++) {
      const opened = await Promise.all(
        Array.from({ length: 100 }, () => ask(hub.url, { headers, body: initializeRequest() })),
      );
      expect(opened.every(({ status }) => status === 200)).toBe(true);
    }
    expect(hub.gateway.clientSessions).toBe(1001);
    expect((await other.request('ping')).status).toBe(200);
  });

  test('has so many subscriptions, while another token has room', async () => {
    const hub = await gatewayForTest({ servers: {} });
    const listen = { notifications: { toolsListChanged: true } };
    const mine = modernClient(hub.url, await hub.token());
    const streams = [];
    for (let count = 0; count < 256; count++) streams.push(await mine.stream('subscriptions/listen', listen));
    const refused = await mine.request('subscriptions/listen', listen);
    expect([refused.status, refused.message.error?.data?.code]).toEqual([503, 'OVERLOADED']);
    const theirs = await modernClient(hub.url, await hub.token('other')).stream('subscriptions/listen', listen);
    expect(theirs.status).toBe(200);
    for (const stream of [...streams, theirs]) stream.close();
  });
});
