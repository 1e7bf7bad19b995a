import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { echoServer, gatewayForTest, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { initializeRequest, legacyClient, namesOf, textOf } from '../../support/mcp-clients.ts';
import { ask, send } from '../../support/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

/** The revisions with a handshake, on the wire. */
let hub: RunningGateway;
let token: string;
let logs: string;

const growing = { command: process.execPath, args: [fixturePath('tools-change.mjs')] };

beforeAll(async () => {
  logs = await mkdtemp(join(tmpdir(), 'qm-face-'));
  const env = { CANCEL_LOG: join(logs, 'cancelled') };
  hub = await startGateway({ servers: { echo: { ...echoServer, env }, growing } });
  token = await hub.token();
});

afterAll(async () => {
  await hub?.stop();
  await rm(logs, { recursive: true, force: true });
});

const bearer = (): { authorization: string } => ({ authorization: `Bearer ${token}` });

describe.each(['2025-03-26', '2025-06-18', '2025-11-25'])('%s', (version) => {
  test('a client session lists and calls', async () => {
    const client = await legacyClient(hub.url, token, version);
    expect(client.initialized.result).toMatchObject({
      protocolVersion: version,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'quartermaster' },
    });
    expect(client.sessionId).toMatch(/^[0-9a-z]{26}$/);
    const list = await client.request('tools/list');
    expect(list.headers['content-type']).toBe('application/json');
    expect(namesOf(list.message)).toContain('echo_add');
    expect(list.message.result).not.toHaveProperty('resultType');
    const answer = await client.call('echo_add', { a: 1, b: 2 }, { id: 'seven' });
    expect(answer).toMatchObject({ status: 200, message: { jsonrpc: '2.0', id: 'seven' } });
    expect(textOf(answer.message)).toBe('3');
  });

  test('ping is answered, an unknown method is -32601, both with 200', async () => {
    const client = await legacyClient(hub.url, token, version);
    const ping = await client.request('ping', {}, { id: 'p' });
    expect([ping.status, ping.message]).toEqual([200, { jsonrpc: '2.0', id: 'p', result: {} }]);
    for (const method of ['no/such', 'server/discover', 'tasks/list', 'constructor']) {
      const answer = await client.request(method);
      expect([answer.status, answer.message.error?.code], method).toEqual([200, -32601]);
    }
  });

  test('notifications and responses are taken with 202 and an empty body', async () => {
    const client = await legacyClient(hub.url, token, version);
    const notified = await client.notify('notifications/roots/list_changed');
    expect([notified.status, notified.text]).toEqual([202, '']);
    const response = await client.post({ jsonrpc: '2.0', id: 4, result: {} });
    expect([response.status, response.text]).toEqual([202, '']);
  });

  test(`a batch is ${version === '2025-03-26' ? 'answered as a batch' : 'refused'}`, async () => {
    const client = await legacyClient(hub.url, token, version);
    const answer = await client.post([
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/x' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { message: 'hi' } } },
    ]);
    if (version !== '2025-03-26') {
      expect([answer.status, answer.message.error?.code]).toEqual([400, -32600]);
      return;
    }
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: { content: [{ text: 'hi' }] } },
    ]);
  });
});

test('an unknown revision is answered with the newest the hub knows', async () => {
  const client = await legacyClient(hub.url, token, '1999-01-01');
  expect(client.protocolVersion).toBe('2025-11-25');
});

test('a batch answers each invalid part by itself, and one of notifications only with 202', async () => {
  const client = await legacyClient(hub.url, token, '2025-03-26');
  const mixed = await client.post([{ jsonrpc: '2.0', id: 1, method: 'ping' }, 1, { jsonrpc: '1.0' }]);
  expect(mixed.status).toBe(200);
  expect(JSON.parse(mixed.text)).toMatchObject([
    { id: 1, result: {} },
    { id: null, error: { code: -32600 } },
    { id: null, error: { code: -32600 } },
  ]);
  const silent = await client.post([{ jsonrpc: '2.0', method: 'notifications/x' }]);
  expect([silent.status, silent.text]).toEqual([202, '']);
  const empty = await client.post([]);
  expect([empty.status, empty.message.error?.code]).toEqual([400, -32600]);
  const many = await client.post(Array.from({ length: 65 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })));
  expect(many.status).toBe(413);
  const nested = await client.post([initializeRequest('2025-03-26', 9)]);
  expect(JSON.parse(nested.text)).toMatchObject([{ id: 9, error: { code: -32600 } }]);
});

test('without a session id a request is 400, with an unknown one 404', async () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  for (const method of ['POST', 'GET', 'DELETE']) {
    const what = { method, ...(method === 'POST' ? { body } : {}) };
    const without = await ask(hub.url, { ...what, headers: bearer() });
    expect([without.status, without.message.error?.code], method).toEqual([400, -32600]);
    const unknown = await ask(hub.url, { ...what, headers: { ...bearer(), 'mcp-session-id': 'x' } });
    expect([unknown.status, unknown.message.error?.code], method).toEqual([404, -31004]);
  }
});

test(verifies('http:session-owner', 'a session of another token does not exist'), async () => {
  const client = await legacyClient(hub.url, token);
  const foreign = { authorization: `Bearer ${await hub.token()}` };
  const answer = await client.request('tools/list', {}, { headers: foreign });
  expect([answer.status, answer.message.error?.code]).toEqual([404, -31004]);
  expect((await client.listen(foreign)).status).toBe(404);
  const gone = await ask(hub.url, {
    method: 'DELETE',
    headers: { ...foreign, 'mcp-session-id': client.sessionId },
  });
  expect(gone.status).toBe(404);
  expect((await client.request('ping')).status).toBe(200);
});

test('DELETE ends a session, its stream and nothing else', async () => {
  const client = await legacyClient(hub.url, token);
  const other = await legacyClient(hub.url, token);
  const stream = await client.listen();
  expect((await client.remove()).status).toBe(204);
  await stream.ended;
  expect((await client.request('ping')).status).toBe(404);
  expect((await client.remove()).status).toBe(404);
  expect((await other.request('ping')).status).toBe(200);
});

test('the revision header may be missing, and must not be unknown', async () => {
  const client = await legacyClient(hub.url, token);
  const without = await client.request('ping', {}, { headers: { 'mcp-protocol-version': undefined } });
  expect(without.status).toBe(200);
  for (const version of ['2024-11-05', '2025-06-17', 'x', '2025-11-25, 2025-11-25']) {
    const answer = await client.request('ping', {}, { headers: { 'mcp-protocol-version': version } });
    expect([answer.status, answer.message.error?.code], version).toEqual([400, -32600]);
  }
});

test('GET is answered at once, before and after initialize', async () => {
  expect((await ask(hub.url, { headers: { ...bearer(), accept: 'text/event-stream' } })).status).toBe(400);
  const client = await legacyClient(hub.url, token);
  const json = await ask(hub.url, {
    headers: { ...bearer(), 'mcp-session-id': client.sessionId, accept: 'application/json' },
  });
  expect(json.status).toBe(406);
  const stream = await client.listen();
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  await eventually(() => stream.text() !== '' || undefined, 'the first bytes of the stream');
  stream.close();
});

test('the GET stream tells that the list has changed', async () => {
  const client = await legacyClient(hub.url, token);
  const stream = await client.listen();
  const before = namesOf((await client.request('tools/list')).message);
  await client.call('growing_grow');
  expect(await stream.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  const after = namesOf((await client.request('tools/list')).message);
  expect(after.filter((name) => !before.includes(name))).toHaveLength(1);
  stream.close();
});

test('a change between the last list and the stream is told when the stream opens', async () => {
  const client = await legacyClient(hub.url, token);
  const before = namesOf((await client.request('tools/list')).message);
  const other = await legacyClient(hub.url, token);
  await client.call('growing_grow');
  await eventually(
    async () => namesOf((await other.request('tools/list')).message).length > before.length || undefined,
    'the new tool',
  );
  const stream = await client.listen();
  expect((await stream.next()).method).toBe('notifications/tools/list_changed');
  stream.close();
});

test('a second GET stream takes the place of the first', async () => {
  const client = await legacyClient(hub.url, token);
  const first = await client.listen();
  const second = await client.listen();
  await first.ended;
  await client.call('growing_grow');
  expect((await second.next()).method).toBe('notifications/tools/list_changed');
  second.close();
});

test('an announcement reaches only agents whose own list changed', async () => {
  const narrow = await gatewayForTest({
    servers: { echo: echoServer, growing },
    agents: { tester: { servers: ['growing'] }, reader: { servers: ['echo'] } },
  });
  const tester = await legacyClient(narrow.url, await narrow.token('tester'));
  const reader = await legacyClient(narrow.url, await narrow.token('reader'));
  const [heard, unheard] = [await tester.listen(), await reader.listen()];
  await tester.call('growing_grow');
  await heard.next();
  expect(unheard.text()).not.toContain('list_changed');
});

describe('progress', () => {
  test('turns the JSON answer into a stream at the first message', async () => {
    const client = await legacyClient(hub.url, token);
    const answer = await client.call('echo_slow', { ms: 50 }, { id: 9, meta: { progressToken: 'tok' } });
    expect(answer.headers['content-type']).toBe('text/event-stream');
    expect(answer.events.slice(0, -1)).toEqual(
      [1, 2, 3, 4, 5].map((progress) => ({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progress, total: 5, progressToken: 'tok' },
      })),
    );
    expect(answer.events.at(-1)).toMatchObject({ id: 9, result: { content: [{ text: 'waited 50 ms' }] } });
  });

  test('is left out where nobody asked, or where the client reads no streams', async () => {
    const client = await legacyClient(hub.url, token);
    const unasked = await client.call('echo_slow', { ms: 10 });
    const deaf = { meta: { progressToken: 1 }, headers: { accept: 'application/json' } };
    const unheard = await client.call('echo_slow', { ms: 10 }, deaf);
    for (const answer of [unasked, unheard]) {
      expect(answer.headers['content-type']).toBe('application/json');
      expect(textOf(answer.message)).toBe('waited 10 ms');
    }
  });

  test('an absent Accept header means that everything is accepted', async () => {
    const client = await legacyClient(hub.url, token);
    const extra = { meta: { progressToken: 1 }, headers: { accept: undefined } };
    expect((await client.call('echo_slow', { ms: 10 }, extra)).events.length).toBe(6);
  });
});

describe('the end of a call', () => {
  const cancelled = (): number => {
    try {
      return readFileSync(join(logs, 'cancelled'), 'utf8').split('\n').length - 1;
    } catch {
      return 0;
    }
  };

  test(verifies('upstream:cancel', 'a cancelled call is cancelled at the server, and answered'), async () => {
    const client = await legacyClient(hub.url, token);
    const before = cancelled();
    const stream = await client.callStream('echo_slow', { ms: 60_000 }, { id: 77, meta: { progressToken: 1 } });
    await stream.next();
    const params = { requestId: 77, reason: 'changed my mind' };
    expect((await client.notify('notifications/cancelled', params)).status).toBe(202);
    expect(await stream.next()).toMatchObject({ id: 77, error: { code: -31011 } });
    await stream.ended;
    await eventually(() => cancelled() > before || undefined, 'the cancellation at the server');
  });

  test('an id in use twice is cancelled by its newest call; ids are told apart by type', async () => {
    const client = await legacyClient(hub.url, token);
    const slow = { name: 'echo_slow', arguments: { ms: 2000 } };
    const first = client.request('tools/call', slow, { id: 5 });
    const stream = await client.callStream('echo_slow', { ms: 60_000 }, { id: 5, meta: { progressToken: 1 } });
    await stream.next();
    expect(textOf((await first).message)).toBe('waited 2000 ms');
    await client.notify('notifications/cancelled', { requestId: '5' });
    await client.notify('notifications/cancelled', { requestId: { $ne: 1 } });
    await client.notify('notifications/cancelled', { requestId: 5 });
    await eventually(() => /"code":-31011/.test(stream.text()) || undefined, 'the end of the second call');
  });

  test('nobody cancels the call of another session', async () => {
    const [client, other] = [await legacyClient(hub.url, token), await legacyClient(hub.url, token)];
    const running = client.call('echo_slow', { ms: 300 }, { id: 5 });
    await other.notify('notifications/cancelled', { requestId: 5 });
    expect(textOf((await running).message)).toBe('waited 300 ms');
  });

  test('a client that goes away does not cancel: the call ends on the ledger', async () => {
    const alone = await gatewayForTest();
    const client = await legacyClient(alone.url, await alone.token());
    const stream = await client.callStream('echo_slow', { ms: 500 }, { meta: { progressToken: 1 } });
    await stream.next();
    stream.close();
    const [call] = await alone.calls(1);
    expect(call).toMatchObject({ tool: 'slow', status: 'ok', outcome: 'ok', agent: 'tester' });
  });

  test('so does one that goes away before anything was said', async () => {
    const alone = await gatewayForTest();
    const own = await alone.token();
    const client = await legacyClient(alone.url, own);
    const sent = send(alone.url, {
      headers: { authorization: `Bearer ${own}`, 'mcp-session-id': client.sessionId },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo_slow', arguments: { ms: 500 } } },
    });
    await eventually(() => alone.hub.callsInFlight === 1 || undefined, 'the call to begin');
    sent.destroy();
    expect((await alone.calls(1))[0]).toMatchObject({ tool: 'slow', outcome: 'ok' });
    expect(alone.log).toEqual([]);
  });
});

test('a call with bad params is told so, and the session goes on', async () => {
  const client = await legacyClient(hub.url, token);
  const nameless = await client.request('tools/call', {});
  expect([nameless.status, nameless.message.error?.code]).toEqual([200, -32602]);
  const array = await client.request('tools/call', { name: 'echo', arguments: [] });
  expect(array.message.error?.code).toBe(-32602);
  const unknown = await client.request('tools/call', { name: 'echo_none', arguments: {} });
  expect(unknown.message.error).toMatchObject({ code: -32602, data: { code: 'TOOL_UNKNOWN' } });
  const cursor = await client.request('tools/list', { cursor: 'x' });
  expect(cursor.message.error?.code).toBe(-32602);
  expect((await client.request('ping')).status).toBe(200);
});

test('other methods are refused with what is allowed', async () => {
  for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
    const answer = await ask(hub.url, { method, headers: bearer() });
    expect([answer.status, answer.headers.allow], method).toEqual([405, 'GET, POST, DELETE']);
  }
});

test('a client that begins to listen late hears nothing of servers that its agent may not see', async () => {
  const agents = { tester: { servers: ['echo'] }, other: { servers: ['echo', 'hidden'] } };
  const hub = await gatewayForTest({ agents });
  const client = await legacyClient(hub.url, await hub.token('tester'));
  const other = await legacyClient(hub.url, await hub.token('other'));
  for (const each of [client, other]) await each.request('tools/list');
  await hub.configure({ servers: { echo: echoServer, hidden: echoServer }, agents });
  await hub.hub.reload();
  await hub.hub.discover();
  const heard = await other.listen();
  expect((await heard.next()).method).toBe('notifications/tools/list_changed');
  const silent = await client.listen();
  await eventually(() => silent.text().includes(': open') || undefined, 'the stream to open');
  // Whatever is announced with the stream comes before the answer to a later request.
  await client.request('ping');
  expect(silent.text()).not.toContain('list_changed');
  for (const stream of [heard, silent]) stream.close();
});
