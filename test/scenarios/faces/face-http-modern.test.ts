import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { echoServer, gatewayForTest, type RunningGateway, startGateway } from '../../support/gateway.ts';
import {
  legacyClient,
  type ModernClient,
  metaPrefix,
  modernClient,
  modernMeta,
  modernVersion,
  namesOf,
  textOf,
} from '../../support/mcp-clients.ts';
import { ask, type Stream, send } from '../../support/mcp-http.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { eventually, within } from '../../support/within.ts';

/** The revision without a handshake, on the wire. */
let hub: RunningGateway;
let client: ModernClient;
let logs: string;

const growing = { command: process.execPath, args: [fixturePath('tools-change.mjs')] };
const modernEcho = { command: process.execPath, args: [fixturePath('echo-modern.mjs')] };

beforeAll(async () => {
  logs = await mkdtemp(join(tmpdir(), 'qm-face-'));
  const env = { CANCEL_LOG: join(logs, 'cancelled') };
  hub = await startGateway({ servers: { echo: { ...echoServer, env }, growing, modern: modernEcho } });
  client = modernClient(hub.url, await hub.token());
});

afterAll(async () => {
  await hub?.stop();
  await rm(logs, { recursive: true, force: true });
});

const identity = { [`${metaPrefix}serverInfo`]: { name: 'quartermaster', title: 'Quartermaster', version: '0.1.0' } };

test('discover, list and call stand for themselves', async () => {
  const discovered = await client.request('server/discover', {}, { id: 'd' });
  expect([discovered.status, discovered.headers['mcp-session-id']]).toEqual([200, undefined]);
  expect(discovered.message).toEqual({
    jsonrpc: '2.0',
    id: 'd',
    result: {
      resultType: 'complete',
      supportedVersions: [modernVersion],
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        extensions: { 'io.modelcontextprotocol/ui': {} },
      },
      ttlMs: 0,
      cacheScope: 'private',
      _meta: identity,
    },
  });
  const { result } = (await client.request('tools/list')).message;
  expect(result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta: identity });
  const names = namesOf({ result: result ?? {} });
  expect(names).toEqual(names.toSorted());
  const called = await client.call('echo_add', { a: 2, b: 3 });
  expect(called.headers['content-type']).toBe('application/json');
  expect(called.message.result).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: '5' }] });
  expect(hub.gateway.clientSessions).toBe(0);
});

test('servers of both eras answer clients of both eras', async () => {
  const legacy = await legacyClient(hub.url, await hub.token());
  for (const name of ['echo', 'modern_echo']) {
    const modern = await client.call(name, { message: 'hi' });
    expect(modern.message.result, name).toMatchObject({ resultType: 'complete', content: [{ text: 'hi' }] });
    const old = await legacy.call(name, { message: 'hi' });
    expect(textOf(old.message), name).toBe('hi');
    expect(old.message.result, name).not.toHaveProperty('resultType');
  }
  await legacy.remove();
});

test('a session id is ignored', async () => {
  const answer = await client.request('tools/list', {}, { headers: { 'mcp-session-id': 'nonsense' } });
  expect(answer.status).toBe(200);
});

test('methods of the handshake and unknown ones are 404 with -32601', async () => {
  for (const method of ['ping', 'logging/setLevel', 'no/such', 'notifications/cancelled']) {
    const answer = await client.request(method, {}, { id: 'm' });
    expect([answer.status, answer.message.error?.code, answer.message.id], method).toEqual([404, -32601, 'm']);
  }
});

test('notifications are taken with 202', async () => {
  const { headers, body } = client.prepare('notifications/x');
  const { id: _, ...message } = body as { id?: unknown };
  const answer = await ask(hub.url, { headers, body: message });
  expect([answer.status, answer.text]).toEqual([202, '']);
});

test('GET and DELETE are not allowed', async () => {
  const { headers } = client.prepare('x');
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const answer = await ask(hub.url, { method, headers });
    expect([answer.status, answer.headers.allow], method).toEqual([405, 'POST']);
  }
});

describe('headers mirror the body', () => {
  const call = { name: 'echo', arguments: { message: 'hi' } };

  test.each([
    ['no revision header', { 'mcp-protocol-version': undefined }],
    ['another revision header', { 'mcp-protocol-version': '2025-11-25' }],
    ['no method header', { 'mcp-method': undefined }],
    ['another method header', { 'mcp-method': 'tools/list' }],
    ['a method header in another case', { 'mcp-method': 'Tools/Call' }],
    ['no name header', { 'mcp-name': undefined }],
    ['another name header', { 'mcp-name': 'add' }],
    ['a name header in broken base64', { 'mcp-name': '=?base64?ZWNob=?=' }],
    ['a name header twice', { 'mcp-name': 'echo, echo' }],
  ])('%s is -32020', async (_, headers) => {
    const answer = await client.request('tools/call', call, { id: 'h', headers });
    expect([answer.status, answer.message.error?.code, answer.message.id]).toEqual([400, -32020, 'h']);
  });

  test('a name may come in base64, and blanks around values mean nothing', async () => {
    const encoded = `=?base64?${Buffer.from('echo').toString('base64')}?=`;
    const headers = { 'mcp-name': encoded, 'mcp-method': ' tools/call ', 'mcp-protocol-version': `${modernVersion} ` };
    expect(textOf((await client.request('tools/call', call, { headers })).message)).toBe('hi');
  });

  test('a revision nobody speaks is -32022 and says which are spoken', async () => {
    const version = '2027-01-01';
    const answer = await client.request(
      'tools/list',
      {},
      { headers: { 'mcp-protocol-version': version }, meta: { [`${metaPrefix}protocolVersion`]: version } },
    );
    expect(answer.status).toBe(400);
    expect(answer.message.error).toMatchObject({
      code: -32022,
      data: { supported: [modernVersion], requested: version },
    });
  });

  test.each([
    ['no metadata', { _meta: undefined }],
    ['no revision', { _meta: modernMeta({ [`${metaPrefix}protocolVersion`]: undefined }) }],
    ['a revision that is no string', { _meta: modernMeta({ [`${metaPrefix}protocolVersion`]: 3 }) }],
    ['no capabilities', { _meta: modernMeta({ [`${metaPrefix}clientCapabilities`]: undefined }) }],
    ['capabilities that are a list', { _meta: modernMeta({ [`${metaPrefix}clientCapabilities`]: [] }) }],
    ['client info without a version', { _meta: modernMeta({ [`${metaPrefix}clientInfo`]: { name: 'x' } }) }],
  ])('%s is -32602', async (_, params) => {
    const answer = await client.request('tools/list', params, { id: 'e' });
    expect([answer.status, answer.message.error?.code, answer.message.id]).toEqual([400, -32602, 'e']);
  });

  test('initialize with the modern header is a contradiction', async () => {
    const { headers } = client.prepare('initialize');
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
    const answer = await ask(hub.url, { headers, body });
    expect([answer.status, answer.message.error?.code]).toEqual([400, -32020]);
  });

  test('arguments that a tool wants mirrored are compared', async () => {
    const named = { name: 'echo_meta', arguments: { region: 'eu' } };
    for (const headers of [{}, { 'mcp-param-region': 'us' }]) {
      const answer = await client.request('tools/call', named, { headers });
      expect([answer.status, answer.message.error?.code]).toEqual([400, -32020]);
    }
    const same = await client.request('tools/call', named, { headers: { 'mcp-param-region': 'eu' } });
    expect(same.status).toBe(200);
    const legacy = await legacyClient(hub.url, await hub.token());
    expect((await legacy.call('echo_meta', { region: 'eu' })).message.result).toBeDefined();
  });

  test('a call without a name is -32602', async () => {
    const answer = await client.request('tools/call', { arguments: {} });
    expect([answer.status, answer.message.error?.code]).toEqual([400, -32602]);
  });
});

describe('calls', () => {
  test('progress turns the answer into a stream', async () => {
    const answer = await client.call('echo_slow', { ms: 50 }, { id: 4, meta: { progressToken: 9 } });
    expect(answer.headers['content-type']).toBe('text/event-stream');
    expect(answer.events.slice(0, -1).map(({ params }) => params)).toEqual(
      [1, 2, 3, 4, 5].map((progress) => ({ progress, total: 5, progressToken: 9 })),
    );
    expect(answer.events.at(-1)).toMatchObject({ id: 4, result: { resultType: 'complete' } });
  });

  test('closing the stream cancels at the server', async () => {
    const stream = await client.stream(
      'tools/call',
      { name: 'echo_slow', arguments: { ms: 60_000 } },
      { meta: { progressToken: 1 } },
    );
    await stream.next();
    stream.close();
    const log = await eventually(
      () => readFile(join(logs, 'cancelled'), 'utf8').catch(() => undefined),
      'the cancellation at the server',
    );
    expect(log).toContain('"tool":"slow"');
    await eventually(() => hub.hub.callsInFlight === 0 || undefined, 'the call to end');
  });

  test('so does going away before anything was said', async () => {
    const alone = await gatewayForTest();
    const own = modernClient(alone.url, await alone.token());
    const sent = send(alone.url, own.prepare('tools/call', { name: 'echo_slow', arguments: { ms: 60_000 } }));
    await eventually(() => alone.hub.callsInFlight === 1 || undefined, 'the call to begin');
    sent.destroy();
    const [call] = await alone.calls(1);
    expect(call).toMatchObject({ tool: 'slow', status: 'error', outcome: 'cancelled' });
  });

  test("the client's own metadata travels on, and what belongs to this hop does not", async () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const answer = await client.call('echo_meta', {}, { meta: { traceparent: trace, progressToken: 'mine' } });
    const seen = JSON.parse(textOf(answer.message) ?? '') as { _meta: Record<string, unknown> }; // the fixture's answer
    expect(seen._meta).toMatchObject({ traceparent: trace, 'quartermaster/call-id': expect.any(String) });
    expect(JSON.stringify(seen)).not.toContain('mine');
    expect(Object.keys(seen._meta).filter((key) => key.startsWith(metaPrefix))).toEqual([]);
  });
});

describe('subscriptions', () => {
  const wanted = { notifications: { toolsListChanged: true, somethingElse: true } };
  const tag = (id: unknown): object => ({ [`${metaPrefix}subscriptionId`]: id });

  test('are acknowledged with what is served, and tagged', async () => {
    const stream = await client.stream('subscriptions/listen', wanted, { id: 'sub-1' });
    expect(stream.headers['content-type']).toBe('text/event-stream');
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true }, _meta: tag('sub-1') },
    });
    await client.call('growing_grow');
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: tag('sub-1') },
    });
    stream.close();
  });

  test('of other lists stay open and silent', async () => {
    const other = { notifications: { promptsListChanged: true } };
    const silent = await client.stream('subscriptions/listen', other, { id: 1 });
    const heard = await client.stream('subscriptions/listen', wanted, { id: 2 });
    expect(await silent.next()).toMatchObject({
      params: { notifications: { promptsListChanged: true }, _meta: tag(1) },
    });
    await heard.next();
    await client.call('growing_grow');
    expect(await heard.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    expect(silent.text()).not.toContain('list_changed"');
    silent.close();
    heard.close();
  });

  test('need a filter and a client that reads streams', async () => {
    const without = await client.request('subscriptions/listen', {});
    expect([without.status, without.message.error?.code]).toEqual([400, -32602]);
    const deaf = await client.request('subscriptions/listen', wanted, { headers: { accept: 'application/json' } });
    expect([deaf.status, deaf.message.error?.code]).toEqual([400, -32600]);
  });

  test('end with a result when the hub stops', async () => {
    const alone = await gatewayForTest();
    const own = modernClient(alone.url, await alone.token());
    const legacy = await legacyClient(alone.url, await alone.token());
    const stream = await own.stream('subscriptions/listen', wanted, { id: 7 });
    const old = await legacy.listen();
    await stream.next();
    const stopped = alone.stop();
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: { resultType: 'complete', _meta: { ...identity, ...tag(7) } },
    });
    await within(Promise.all([stream.ended, old.ended, stopped]), 'both streams to end');
  });
});

test('both eras share the endpoint, request by request', async () => {
  const token = await hub.token();
  const legacy = await legacyClient(hub.url, token);
  const modern = modernClient(hub.url, token);
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const message = `m${index}`;
      const answer = await (index % 2 === 0 ? legacy : modern).call('echo', { message }, { id: index });
      return [answer.message.id, textOf(answer.message), 'resultType' in (answer.message.result ?? {})];
    }),
  );
  expect(answers).toEqual(answers.map((_, index) => [index, `m${index}`, index % 2 === 1]));
});

test('a call that says nothing becomes a stream, which is kept alive', async () => {
  const clock = createMovingClock();
  const alone = await gatewayForTest({}, { clock });
  const own = modernClient(alone.url, await alone.token());
  const slow = { name: 'echo_slow', arguments: { ms: 3000 } };
  let stream: Stream | undefined;
  void own.stream('tools/call', slow, { id: 'long' }).then((opened) => {
    stream = opened;
  });
  const deaf = own.request('tools/call', slow, { headers: { accept: 'application/json' } });
  const quick = await own.call('echo_add', { a: 1, b: 2 });
  expect(quick.headers['content-type']).toBe('application/json');
  await eventually(() => alone.hub.callsInFlight === 2 || undefined, 'the calls to begin');
  const kept = await eventually(() => {
    clock.advance(1000);
    return stream?.text().includes(': keep-alive') ? stream : undefined;
  }, 'a sign of life');
  expect(kept.headers['content-type']).toBe('text/event-stream');
  expect(await kept.next()).toMatchObject({ id: 'long', result: { content: [{ text: 'waited 3000 ms' }] } });
  await kept.ended;
  const plain = await deaf;
  expect(plain.headers['content-type']).toBe('application/json');
  expect(textOf(plain.message)).toBe('waited 3000 ms');
});
