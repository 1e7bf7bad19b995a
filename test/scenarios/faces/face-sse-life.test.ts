import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gatewayForTest } from '../../support/gateway.ts';
import { stdioServer } from '../../support/hub.ts';
import { clientInfo, initializeRequest, textOf } from '../../support/mcp-clients.ts';
import { ask } from '../../support/mcp-http.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { seriesValue } from '../../support/prometheus-text.ts';
import { connectTo, statusesOf } from '../../support/raw-socket.ts';
import { listenOverSse, sseClient } from '../../support/sse-client.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

/** How long a stream of the older transport lives, and what is left of it. */
describe(verifies('http:sse-bounds', 'a stream is bounded'), () => {
  test('one too many costs the one that was silent for longest', async () => {
    const hub = await gatewayForTest({ serve: { maxClientSessions: 2 } });
    const token = await hub.token();
    const [first, second] = [await sseClient(hub.origin, token), await sseClient(hub.origin, token)];
    await first.request('ping');
    const third = await sseClient(hub.origin, token);
    await within(second.stream.ended, 'the stream that was silent for longest to end');
    expect(hub.gateway.clientSessions).toBe(2);
    for (const client of [first, third]) expect((await client.request('ping')).result).toEqual({});
    expect((await second.post(initializeRequest())).status).toBe(404);
  });

  test('a reader that leaves much unread is cut', async () => {
    const hub = await gatewayForTest();
    const token = await hub.token();
    const socket = connectTo(hub.origin);
    socket.on('error', () => {});
    socket.write(`GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    const head = await within(
      new Promise<string>((resolve) => {
        let text = '';
        socket.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (!text.includes('sessionId=') || !text.endsWith('\r\n')) return;
          socket.pause();
          resolve(text);
        });
      }),
      'the endpoint',
    );
    const url = `${hub.origin}${/\/messages\?sessionId=\w+/.exec(head)?.[0]}`;
    const params = { name: 'echo_big', arguments: { bytes: 500_000 } };
    await eventually(async () => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const { status } = await ask(url, { headers: { authorization: `Bearer ${token}` }, body });
      return status === 404;
    }, 'the session to end');
    expect(hub.gateway.clientSessions).toBe(0);
    socket.destroy();
  });

  test('it hears that it is alive, and ends when its client has nothing to say for long', async () => {
    const clock = createMovingClock();
    const hub = await gatewayForTest({ serve: { clientSessionIdle_s: 600 } }, { clock });
    const token = await hub.token();
    const [busy, silent] = [await sseClient(hub.origin, token), await sseClient(hub.origin, token)];
    for (let minutes = 0; minutes < 12; minutes += 3) {
      clock.advance(180_000);
      await busy.request('ping');
    }
    await within(silent.stream.ended, 'the silent stream to end');
    expect(silent.stream.text()).toContain(': keep-alive\n\n');
    // It was asked, and did not answer.
    expect(silent.messages().filter(({ method }) => method === 'ping')).toHaveLength(1);
    expect(busy.messages().filter(({ method }) => method === 'ping')).toEqual([]);
    expect(hub.gateway.clientSessions).toBe(1);
  });

  test('a client that only listens stays as long as it answers', async () => {
    const clock = createMovingClock();
    const hub = await gatewayForTest({ serve: { clientSessionIdle_s: 600 } }, { clock });
    const listener = await sseClient(hub.origin, await hub.token());
    for (let asked = 1; asked <= 4; asked++) {
      clock.advance(310_000);
      const questions = await eventually(() => {
        const pings = listener.messages().filter(({ method }) => method === 'ping');
        return pings.length === asked ? pings : undefined;
      }, `ping ${asked}`);
      expect((await listener.post({ jsonrpc: '2.0', id: questions.at(-1)?.id, result: {} })).status).toBe(202);
    }
    expect(hub.gateway.clientSessions).toBe(1);
    expect(textOf(await listener.call('echo', { message: 'still here' }))).toBe('still here');
  });

  test('it is counted while it is there', async () => {
    const adminToken = 'operator';
    const hub = await gatewayForTest({}, { adminToken });
    const client = await sseClient(hub.origin, await hub.token());
    const counted = async (): Promise<unknown> => {
      const { text } = await ask(`${hub.origin}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } });
      return seriesValue(text, 'quartermaster_client_sessions');
    };
    expect(await counted()).toBe(1);
    client.stream.close();
    await eventually(async () => (await counted()) === 0, 'the session to be gone');
  });
});

describe(verifies('http:sse-end', 'a stream ends'), () => {
  test('when its token is revoked or expires, and no other with it', async () => {
    const clock = createMovingClock();
    const hub = await gatewayForTest({}, { clock });
    const revoked = await hub.tokens.issue({ agent: 'tester' });
    const [gone, late, stays] = [
      await sseClient(hub.origin, revoked.token),
      await sseClient(hub.origin, await hub.token('tester', { ttlMs: 60_000 })),
      await sseClient(hub.origin, await hub.token()),
    ];
    await hub.tokens.revoke(revoked.id);
    await within(gone.stream.ended, 'the revoked stream to end');
    expect((await gone.post(initializeRequest())).status).toBe(401);
    clock.advance(61_000);
    await within(late.stream.ended, 'the stream of the old token to end');
    expect((await stays.request('ping')).result).toEqual({});
    expect(hub.gateway.clientSessions).toBe(1);
  });

  test('when its client goes; the call in flight is on the ledger', async () => {
    const hub = await gatewayForTest();
    const client = await sseClient(hub.origin, await hub.token());
    await client.post({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo_slow', arguments: { ms: 500 }, _meta: { progressToken: 1 } },
    });
    await eventually(() => client.messages().some(({ method }) => method === 'notifications/progress'), 'a step');
    client.stream.close();
    await eventually(() => hub.gateway.clientSessions === 0, 'the session to end');
    expect((await hub.calls(1))[0]).toMatchObject({ tool: 'slow', status: 'ok', outcome: 'ok', agent: 'tester' });
    expect(hub.log).toEqual([]);
  });

  test('when its client goes; what it was asked is given up, and the call ends', async () => {
    const asking = stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'north', '--stdio']);
    const hub = await gatewayForTest({ servers: { north: { ...asking, isolation: 'per-session' } } });
    const client = await listenOverSse(hub.origin, await hub.token());
    const capabilities = { elicitation: { form: {} } };
    await client.request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    await client.post({
      jsonrpc: '2.0',
      id: 'asks',
      method: 'tools/call',
      params: { name: 'north_ask_form', arguments: { nonce: 'left' } },
    });
    await eventually(() => client.messages().some(({ method }) => method === 'elicitation/create'), 'the question');
    client.stream.close();
    const [call] = await hub.calls(1);
    expect(call).toMatchObject({ tool: 'ask_form', agent: 'tester' });
    await eventually(() => hub.hub.callsInFlight === 0, 'the call to end');
  });

  test('when its client goes; what it was about to watch is watched no more', async () => {
    const hub = await gatewayForTest({ servers: { memo: { command: process.execPath, args: ['-e', slowToWatch] } } });
    const client = await sseClient(hub.origin, await hub.token());
    const seen = () => readFile(join(hub.workspace, 'watched.log'), 'utf8').catch(() => '');
    await client.post({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'memo://one' } });
    await eventually(async () => (await seen()) === 'resources/subscribe\n', 'the server to be asked');
    client.stream.close();
    await eventually(() => hub.gateway.clientSessions === 0, 'the session to end');
    await eventually(
      async () => (await seen()) === 'resources/subscribe\nresources/unsubscribe\n',
      'the server to be told',
    );
  });

  test('when the hub stops, with the answers to what was asked before', async () => {
    const hub = await gatewayForTest();
    const token = await hub.token();
    const [busy, idle] = [await sseClient(hub.origin, token), await sseClient(hub.origin, token)];
    const slow = { name: 'echo_slow', arguments: { ms: 500 } };
    await busy.post({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params: slow });
    await eventually(() => hub.hub.callsInFlight === 1, 'the call to begin');
    const late = connectTo(hub.origin).setEncoding('utf8');
    // Half a request keeps a connection open across the beginning of the end.
    late.write(`GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`);
    expect((await busy.request('ping')).result).toEqual({});
    const stopped = hub.stop();
    late.write('\r\n');
    const refused = await within(
      new Promise<string>((resolve) => late.once('data', resolve)),
      'the answer to who is late',
    );
    expect(statusesOf(refused)).toEqual([503]);
    await within(idle.stream.ended, 'the idle stream to end');
    expect(textOf(await busy.answer('slow'))).toBe('waited 500 ms');
    await within(Promise.all([busy.stream.ended, stopped]), 'everything to end');
    expect(hub.gateway.clientSessions).toBe(0);
  });
});

/** A server that takes its time to agree, and notes what it was asked. */
const slowToWatch = `
const { appendFileSync } = require('node:fs');
const card = { protocolVersion: '2025-11-25', capabilities: { resources: { subscribe: true } } };
const results = {
  initialize: { ...card, serverInfo: { name: 'memo', version: '1' } },
  'resources/list': { resources: [{ uri: 'memo://one', name: 'one' }] },
  'resources/subscribe': {},
  'resources/unsubscribe': {},
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const watching = method.endsWith('subscribe');
  const result = results[method];
  const part = result === undefined ? { error: { code: -32601, message: 'no' } } : { result };
  if (watching) appendFileSync('watched.log', method + '\\n');
  if (id === undefined) return;
  setTimeout(() => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...part })), watching ? 400 : 0);
});
`;
