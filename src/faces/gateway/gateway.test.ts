import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { gatewayForTest, type RunningGateway } from '../../../test/support/gateway.ts';
import { legacyClient, textOf } from '../../../test/support/mcp-clients.ts';
import { ask } from '../../../test/support/mcp-http.ts';
import { connectTo, statusesOf, talk } from '../../../test/support/raw-socket.ts';
import { eventually, within } from '../../../test/support/within.ts';
import { createSilentLogger, createSystemClock, HubError, systemRandom } from '../../base/index.ts';
import { openGateway } from './gateway.ts';

async function openAgain({ hub, tokens }: RunningGateway, host: string, port: number) {
  const deps = { hub, tokens, clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom };
  const api = (_: IncomingMessage, response: ServerResponse): unknown => response.end();
  const gateway = await openGateway({ ...deps, api, metrics: api, approvalPage: api }, { host, port });
  onTestFinished(() => gateway.close());
  return gateway;
}

test('a port that is taken is told with what to do', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo; // a TCP server has one
  const running = await gatewayForTest({ servers: {} });
  const failed = await openAgain(running, '127.0.0.1', port).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(HubError);
  expect(failed).toMatchObject({
    code: 'PORT_TAKEN',
    message: `Cannot listen on 127.0.0.1:${port}: the port is taken.`,
  });
  const nowhere = await openAgain(running, '203.0.113.1', 0).catch((error: unknown) => error);
  expect(nowhere).toMatchObject({ code: 'USAGE', hint: 'Choose another --host or --port.' });
});

test('closing twice is the same as once, and an idle connection does not delay it', async () => {
  const running = await gatewayForTest({ servers: {} });
  const idle = connectTo(running.origin);
  idle.on('error', () => {});
  idle.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await new Promise((resolve) => idle.once('data', resolve));
  const gone = new Promise((resolve) => idle.once('close', resolve));
  await within(Promise.all([running.gateway.close(), running.gateway.close(), gone]), 'the gateway to close', 5000);
});

test('a connection on which nothing was said yet does not delay closing', async () => {
  const running = await gatewayForTest({ servers: {} });
  const unused = connectTo(running.origin);
  unused.on('error', () => {});
  await new Promise((resolve) => unused.once('connect', resolve));
  // By then the other side has taken it too.
  expect((await ask(`${running.origin}/healthz`)).status).toBe(200);
  await within(running.gateway.close(), 'the gateway to close', 5000);
});

test('an answer in flight leaves while the gateway closes; what takes too long is cut', async () => {
  const running = await gatewayForTest({}, { timeouts: { close: 1000 } });
  const client = await legacyClient(running.url, await running.token());
  const quick = client.call('echo_slow', { ms: 400 });
  const slow = client.call('echo_slow', { ms: 3000 }).then(
    () => 'answered',
    () => 'cut',
  );
  await eventually(() => running.hub.callsInFlight === 2 || undefined, 'both calls to begin');
  await within(running.gateway.close(), 'the gateway to close', 6000);
  expect(textOf((await quick).message)).toBe('waited 400 ms');
  expect(await slow).toBe('cut');
});

test('a connection that is no HTTP is closed for good, even if the client keeps its end open', async () => {
  const running = await gatewayForTest({ servers: {} });
  const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  const before = sockets();
  const client = connectTo(running.origin, { allowHalfOpen: true });
  client.on('error', () => {}).resume();
  client.write('nonsense\r\n\r\n');
  await within(new Promise((resolve) => client.once('end', resolve)), 'the other side to end');
  await eventually(() => sockets() <= before + 1 || undefined, 'only the end of the client to be left');
  client.destroy();
});

test('nonsense after a good request does not end up in the answer to it', async () => {
  const running = await gatewayForTest();
  const token = await running.token();
  const client = await legacyClient(running.url, token);
  const get = `GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nMcp-Session-Id: ${client.sessionId}\r\n\r\n`;
  const { text, closed } = await talk(running.origin, [get, 200, 'nonsense\r\n\r\n']);
  expect([statusesOf(text), closed]).toEqual([[200], true]);
});

test('names that a reload allows are served from then on', async () => {
  const running = await gatewayForTest({ servers: {} });
  const health = () => ask(`${running.origin}/healthz`, { headers: { host: 'hub.example' } });
  expect((await health()).status).toBe(403);
  await running.configure({ servers: {}, serve: { allowedHosts: ['hub.example'] } });
  await running.hub.reload();
  expect((await health()).status).toBe(200);
});
