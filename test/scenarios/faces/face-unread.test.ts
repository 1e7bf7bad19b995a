import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { ByteLimits } from '../../../src/faces/mcp-http/index.ts';
import type { CallLine } from '../../../src/ledger/index.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { echoServer, gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { type LegacyClient, legacyClient } from '../../support/mcp-clients.ts';
import { ask, type Message } from '../../support/mcp-http.ts';
import { connectTo, statusesOf, talk } from '../../support/raw-socket.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

/** Clients that ask and do not read, or send and do not finish. */
const mebibyte = 1024 * 1024;
const small: ByteLimits = {
  answersPerAgent: 20 * mebibyte,
  answers: 100 * mebibyte,
  bodiesPerAgent: 100 * mebibyte,
  bodies: 100 * mebibyte,
};
const fewBodies: ByteLimits = { ...small, bodiesPerAgent: mebibyte };
/** More than the sockets of both sides take by themselves. */
const large = 'x'.repeat(12 * mebibyte);
const overloaded = -31008;
const resultTooLarge = -31015;

function post(token: string, session: string, body: string, length = Buffer.byteLength(body)): string {
  return [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    'Accept: application/json',
    `Authorization: Bearer ${token}`,
    `Mcp-Session-Id: ${session}`,
    `Content-Length: ${length}`,
    '',
    body,
  ].join('\r\n');
}

function echo(text: string): string {
  const params = { name: 'echo', arguments: { message: text } };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

/** Says something on a connection of its own and reads nothing. */
function sayUnread(hub: RunningGateway, text: string): Socket {
  const socket = connectTo(hub.origin);
  socket.on('error', () => {});
  socket.pause();
  socket.write(text);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** So many calls on the ledger, none of them in flight. */
function endedCalls(hub: RunningGateway, count: number): Promise<CallLine[]> {
  return eventually(async () => {
    const lines = await hub.calls(count);
    return lines.every(({ outcome }) => outcome !== 'open') ? lines : undefined;
  }, 'all calls to end');
}

async function codeOfLargeCall(client: LegacyClient): Promise<number | undefined> {
  return (await client.call('echo', { message: large })).message.error?.code;
}

test(verifies(
  'http:unread-answers',
  'results that an agent leaves unread, with whatever tokens, cost only that agent, until they are gone',
), {
  timeout: 120_000,
}, async () => {
  const hub = await gatewayForTest({ serve: { maxBodyBytes: 16 * mebibyte } }, { byteLimits: small });
  const [greedy, other] = [await hub.token('greedy'), await hub.token('other')];
  const client = await legacyClient(hub.url, greedy);
  const unread = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const token = await hub.token('greedy');
      const { sessionId } = await legacyClient(hub.url, token);
      return sayUnread(hub, post(token, sessionId, echo(large)));
    }),
  );
  // One of them fits, and both would be dropped beside another large result.
  await endedCalls(hub, 2);
  await eventually(
    async () => (await codeOfLargeCall(client)) === resultTooLarge || undefined,
    'a result that is refused',
  );
  // Small answers and other agents are not concerned.
  expect((await client.call('echo', { message: 'hi' })).message.error).toBeUndefined();
  expect(await codeOfLargeCall(await legacyClient(hub.url, other))).toBeUndefined();
  for (const socket of unread) socket.destroy();
  await eventually(async () => (await codeOfLargeCall(client)) === undefined || undefined, 'the budget to be free');
});

test(verifies('ledger:outcomes', 'a call whose result was dropped for its size is not on the ledger as delivered'), {
  timeout: 120_000,
}, async () => {
  const servers = { up: { ...echoServer, cache: { ttl_s: 60, tools: ['echo'] } } };
  const byteLimits = { ...small, answersPerAgent: mebibyte };
  const hub = await gatewayForTest({ serve: { maxBodyBytes: 16 * mebibyte }, servers }, { byteLimits });
  const greedy = await hub.token('greedy');
  const client = await legacyClient(hub.url, greedy);
  const call = async (letter: string): Promise<number | undefined> =>
    (await client.call('up_echo', { message: letter.repeat(100_000) })).message.error?.code;
  expect(await call('a')).toBeUndefined();
  sayUnread(hub, post(greedy, client.sessionId, echo(large).replace('"echo"', '"up_echo"')));
  // One answer has a whole budget unread.
  await endedCalls(hub, 2);
  expect([await call('b'), await call('a')]).toEqual([resultTooLarge, resultTooLarge]);
  const lines = await endedCalls(hub, 4);
  expect(lines.map(({ outcome, status }) => `${outcome}: ${status}`)).toEqual([
    'ok: ok',
    'ok: ok',
    'result_dropped: error',
    'result_dropped: error',
  ]);
  expect(lines[2]?.error).toMatch(/^The call ran, but its result of \d+ bytes was dropped/);
});

test('the lists of one batch are bounded together', { timeout: 180_000 }, async () => {
  const names = Array.from({ length: 900 }, (_, index) => `${index}`.padEnd(40, 'n'));
  const server = { command: process.execPath, args: [fixturePath('named-tools.mjs'), ...names] };
  const hub = await gatewayForTest({ servers: { many: server } });
  const client = await legacyClient(hub.url, await hub.token(), '2025-03-26');
  const one = JSON.stringify((await client.request('tools/list')).message.result).length;
  const batch = Array.from({ length: 64 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
  const { message } = await client.post(batch);
  const answers = message as unknown as Message[]; // the answer to a batch is one
  const listed = answers.filter(({ result }) => result !== undefined).length;
  expect(listed).toBe(Math.floor((4 * mebibyte) / (one + 36)));
  expect(answers.slice(listed).map(({ error }) => error?.code)).toEqual(Array(64 - listed).fill(overloaded));
});

test('a batch of a token that was revoked while it waited is refused', { timeout: 180_000 }, async () => {
  const server = { command: process.execPath, args: [fixturePath('late.mjs'), '--call', '1500'] };
  const hub = await gatewayForTest({ servers: { late: server } });
  const { token, id } = await hub.tokens.issue({ agent: 'tester' });
  const client = await legacyClient(hub.url, token, '2025-03-26');
  const params = { name: 'late_echo', arguments: {} };
  const answer = client.post([
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params },
  ]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await hub.tokens.revoke(id);
  const { status, text } = await answer;
  expect([status, text.includes('late_echo')]).toEqual([401, false]);
});

test('bodies that one token does not finish leave room for others', { timeout: 180_000 }, async () => {
  const hub = await gatewayForTest({ serve: { maxBodyBytes: 16 * mebibyte } }, { byteLimits: fewBodies });
  const [greedy, other] = [await hub.token('greedy'), await hub.token('other')];
  const half = 'y'.repeat(700_000);
  const unfinished = [1, 2].map(() => sayUnread(hub, post(greedy, 'x', half, 2_000_000)));
  const refused = await eventually(async () => {
    const { text } = await talk(hub.origin, [post(greedy, 'x', half)], 3000);
    return statusesOf(text)[0] === 503 ? text : undefined;
  }, 'a body that is refused');
  expect(refused).toContain(`"code":${overloaded}`);
  const unknown = { authorization: `Bearer ${other}`, 'mcp-session-id': 'x' };
  expect((await ask(hub.url, { headers: unknown, body: echo(half) })).status).toBe(404);
  for (const socket of unfinished) socket.destroy();
  const own = { authorization: `Bearer ${greedy}`, 'mcp-session-id': 'x' };
  await eventually(
    async () => (await ask(hub.url, { headers: own, body: echo(half) })).status === 404 || undefined,
    'the room to be free',
  );
});

test('two Host headers are refused as a request that can be misread', async () => {
  const hub = await gatewayForTest({ servers: {} });
  for (const hosts of ['Host: localhost\r\nHost: evil.example', 'host: evil.example\r\nHOST: localhost']) {
    const { text } = await talk(hub.origin, [`GET /healthz HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`]);
    expect(statusesOf(text)).toEqual([400]);
  }
});
