import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCalls } from '../../../src/ledger/index.ts';
import { startCuttingProxy } from '../../support/cutting-proxy.ts';
import { fixturePath, type HttpFixture, startHttpFixture } from '../../support/fixture-servers.ts';
import { echoServer, gatewayForTest, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { clientInfo, type LegacyClient, legacyClient, textOf } from '../../support/mcp-clients.ts';
import { ask, type Message, openStream, type Stream } from '../../support/mcp-http.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, pause } from '../../support/within.ts';

/** Connections of legacy clients that break in the middle of an answer. */
let hub: RunningGateway;
let token: string;
let everything: HttpFixture;

beforeAll(async () => {
  everything = await startHttpFixture('everything.mjs', ['--http', '0']);
  const growing = { command: process.execPath, args: [fixturePath('tools-change.mjs')] };
  hub = await startGateway({
    servers: {
      echo: echoServer,
      growing,
      every: { url: everything.url, isolation: 'per-session' },
    },
  });
  token = await hub.token();
});

afterAll(async () => {
  await hub?.stop();
  await everything?.stop();
});

const progress = { meta: { progressToken: 'p' } };
const idsOf = (stream: Stream): string[] => [...stream.text().matchAll(/^id: (.+)$/gm)].map(([, id]) => String(id));
const back = (client: LegacyClient, id: string | undefined): Promise<Stream> => client.listen({ 'last-event-id': id });

async function restOf(stream: Stream, count: number): Promise<Message[]> {
  const messages: Message[] = [];
  while (messages.length < count) messages.push(await stream.next());
  await stream.ended;
  return messages;
}

test(verifies('http:resume', 'an answer that breaks off is read on, beside the ordinary stream'), async () => {
  const client = await legacyClient(hub.url, token);
  const ordinary = await client.listen();
  const broken = await client.callStream('echo_slow', { ms: 1000 }, { id: 7, ...progress });
  expect((await broken.next()).params?.progress).toBe(1);
  expect(broken.text()).toMatch(/^id: (\d+)-0\nretry: 1000\ndata: \n\nevent: message\nid: \1-1\n/);
  broken.close();
  const resumed = await back(client, idsOf(broken).at(-1));
  const rest = await restOf(resumed, 5);
  expect(rest.slice(0, 4).map(({ params }) => params?.progress)).toEqual([2, 3, 4, 5]);
  expect(rest[4]).toMatchObject({ id: 7, result: { content: [{ text: 'waited 1000 ms' }] } });
  await client.call('growing_grow');
  expect((await ordinary.next()).method).toBe('notifications/tools/list_changed');
  ordinary.close();
});

test('an answer that came while nobody read waits for its client', async () => {
  const alone = await gatewayForTest();
  const client = await legacyClient(alone.url, await alone.token());
  const broken = await client.callStream('echo_slow', { ms: 300 }, progress);
  await broken.next();
  broken.close();
  await alone.calls(1);
  const [, first] = idsOf(broken);
  for (let times = 0; times < 2; times++) {
    expect(textOf((await restOf(await back(client, first), 5))[4] as Message)).toBe('waited 300 ms'); // the fifth
  }
  expect(await alone.calls(1)).toHaveLength(1);
});

test('older revisions know no events without data, and resume all the same', async () => {
  const client = await legacyClient(hub.url, token, '2025-06-18');
  const broken = await client.callStream('echo_slow', { ms: 500 }, progress);
  await broken.next();
  expect(broken.text()).not.toMatch(/^data: *$/m);
  broken.close();
  const resumed = await back(client, idsOf(broken).at(-1));
  expect(textOf((await restOf(resumed, 5))[4] as Message)).toBe('waited 500 ms'); // the fifth
});

test('an unknown id opens the ordinary stream, and nobody resumes what is not theirs', async () => {
  const client = await legacyClient(hub.url, token);
  const broken = await client.callStream('echo_slow', { ms: 3000 }, progress);
  await broken.next();
  const [id] = idsOf(broken);
  const other = await legacyClient(hub.url, token);
  for (const [reader, unknown] of [
    [client, '77-0'],
    [client, 'x'],
    [other, id],
  ] as const) {
    const stream = await back(reader, unknown);
    await reader.call('growing_grow');
    expect((await stream.next()).method).toBe('notifications/tools/list_changed');
    stream.close();
  }
  const stranger = { authorization: `Bearer ${await hub.token()}`, 'last-event-id': id };
  expect((await client.listen(stranger)).status).toBe(404);
  broken.close();
});

test('changes announced while a listener was disconnected are sent when it reconnects', async () => {
  const client = await legacyClient(hub.url, token);
  const first = await client.listen();
  await eventually(() => idsOf(first)[0], 'the first event');
  await client.call('growing_grow');
  await first.next();
  const seen = idsOf(first).at(-1);
  await client.call('growing_grow');
  await first.next();
  first.close();
  const second = await back(client, seen);
  expect((await second.next()).method).toBe('notifications/tools/list_changed');
  expect(idsOf(second)).toContain(seen);
  second.close();
});

test('a call that says nothing becomes a stream, which is kept alive and can be resumed', async () => {
  const clock = createMovingClock();
  const alone = await gatewayForTest({}, { clock });
  const client = await legacyClient(alone.url, await alone.token());
  const running = client.callStream('echo_slow', { ms: 3000 }, { id: 'long' });
  const deaf = client.call('echo_slow', { ms: 3000 }, { headers: { accept: 'application/json' } });
  const quick = await client.call('echo_add', { a: 1, b: 2 });
  expect(quick.headers['content-type']).toBe('application/json');
  await pause(500);
  clock.advance(10_000);
  const stream = await running;
  expect(stream.headers['content-type']).toBe('text/event-stream');
  await eventually(() => {
    clock.advance(1000);
    return stream.text().includes(': keep-alive') || undefined;
  }, 'a sign of life');
  stream.close();
  const resumed = await back(client, idsOf(stream).at(-1));
  expect(await resumed.next()).toMatchObject({ id: 'long', result: { content: [{ text: 'waited 3000 ms' }] } });
  await resumed.ended;
  expect(textOf((await deaf).message)).toBe('waited 3000 ms');
});

/** A session whose client can be asked, without anything between the test and the wire. */
async function answeringClient(running: RunningGateway): Promise<{ headers: Record<string, string>; url: string }> {
  const { url } = running;
  const headers = { authorization: `Bearer ${await running.token()}` };
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo };
  const { headers: answered } = await ask(url, {
    headers,
    body: { jsonrpc: '2.0', id: 0, method: 'initialize', params },
  });
  return { url, headers: { ...headers, 'mcp-session-id': String(answered['mcp-session-id']) } };
}

const elicitation = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'every_test_elicitation', arguments: { message: 'Who?' } },
};

test('a question that broke off is asked again to who comes back, and its answer ends the call', async () => {
  const { url, headers } = await answeringClient(hub);
  const broken = await openStream(url, { headers, body: elicitation });
  const [primed] = await eventually(() => (idsOf(broken).length > 0 ? idsOf(broken) : undefined), 'the first event');
  broken.close();
  const resumed = await openStream(url, {
    headers: { ...headers, accept: 'text/event-stream', 'last-event-id': primed },
  });
  const question = await resumed.next();
  expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Who?' } });
  const result = { action: 'accept', content: { username: 'ann', email: 'ann@example.com' } };
  await ask(url, { headers, body: { jsonrpc: '2.0', id: question.id, result } });
  expect(JSON.stringify(await resumed.next())).toContain('ann');
  await resumed.ended;
});

test.each(['a minute passes', 'the session ends'])('a question is given up when %s without its client', async (how) => {
  const clock = createMovingClock();
  const alone = await gatewayForTest(
    { servers: { every: { url: everything.url, isolation: 'per-session' } } },
    { clock },
  );
  const { url, headers } = await answeringClient(alone);
  const broken = await openStream(url, { headers, body: elicitation });
  await broken.next();
  broken.close();
  await pause(200);
  expect(await readCalls(ledgerOf(alone.workspace))).toEqual([]);
  if (how === 'the session ends') await ask(url, { method: 'DELETE', headers });
  else {
    clock.advance(50_000);
    await pause(200);
    expect(await readCalls(ledgerOf(alone.workspace))).toEqual([]);
    clock.advance(20_000);
  }
  expect(await alone.calls(1)).toMatchObject([{ tool: 'test_elicitation' }]);
});

test(verifies('http:resume', 'calls that are cut at random places get one answer each, their own'), async () => {
  const alone = await gatewayForTest({ servers: { echo: echoServer } });
  const proxy = await startCuttingProxy(alone.url);
  const own = await alone.token();
  const client = new Client({ name: 'cut', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(proxy.url), {
    requestInit: { headers: { Authorization: `Bearer ${own}` } },
  });
  await client.connect(transport);
  const steps = new Map<number, number[]>();
  const calls = Array.from({ length: 20 }, async (_, at) => {
    const ms = 2000 + at * 100;
    const seen: number[] = [];
    steps.set(ms, seen);
    const onprogress = (step: { progress: number }): void => void seen.push(step.progress);
    return client.callTool({ name: 'echo_slow', arguments: { ms } }, { onprogress, timeout: 25_000 });
  });
  const answers = Promise.all(calls);
  await eventually(() => [...steps.values()].every((seen) => seen.length > 0) || undefined, 'a step of each call');
  for (let cuts = 0; cuts < 4; cuts++) {
    proxy.cut();
    await pause(200 + Math.random() * 600);
  }
  expect((await answers).map(({ content }) => content)).toEqual(
    [...steps.keys()].map((ms) => [{ type: 'text', text: `waited ${ms} ms` }]),
  );
  // In order and once; the last ones may be lost in a client that drops its handler with the answer.
  for (const seen of steps.values()) expect(seen).toEqual([1, 2, 3, 4, 5].slice(0, seen.length));
  expect(proxy.broken).toBeGreaterThan(20);
  await pause(100);
  expect(await alone.calls(20)).toHaveLength(20);
  await client.close();
});
