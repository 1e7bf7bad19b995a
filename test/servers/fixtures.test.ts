import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fixturePath, type HttpFixture, startHttpFixture } from '../support/fixture-servers.ts';
import { within } from './drive-stdio.ts';

type Era = 'legacy' | 'modern';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-fixtures-'));
});

afterAll(() => rm(folder, { recursive: true }));

const echoNames = ['echo', 'add', 'slow', 'fail', 'counter', 'meta', 'big', 'raw_args'];

describe('echo over stdio', () => {
  test.each([
    ['echo-stdio.mjs', 'legacy'],
    ['echo-modern.mjs', 'modern'],
  ] as const)('%s speaks the %s era', async (file, era) => {
    const log = join(folder, `${file}.calls`);
    const env = { FIXTURE_VALUE: 'seen', CALL_LOG: log };
    await using session = await connect(
      new StdioClientTransport({ command: process.execPath, args: [fixturePath(file)], env }),
      era,
    );
    expect(session.client.getProtocolEra()).toBe(era);
    await checkEcho(session.client, [...echoNames, 'env']);
    expect(await call(session.client, 'env', { name: 'FIXTURE_VALUE' })).toBe('seen');
    expect(await call(session.client, 'env', { name: 'NOT_SET' })).toBe('');
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).tool).slice(0, 2)).toEqual(['echo', 'add']);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ tool: 'echo', arguments: { message: 'one\u2028line' } });
  });

  test('a modern server answers a handshake with an error', async () => {
    const transport = new StdioClientTransport({ command: process.execPath, args: [fixturePath('echo-modern.mjs')] });
    await expect(connect(transport, 'legacy')).rejects.toThrow(/no handshake/);
    await transport.close();
  });
});

describe('echo over HTTP', () => {
  test.each([
    ['legacy', ['--era', 'legacy']],
    ['legacy', ['--era', 'legacy', '--sse', '--sessions']],
    ['legacy', ['--era', 'both', '--sessions']],
    ['modern', ['--era', 'modern']],
    ['modern', ['--era', 'both', '--sse']],
  ] as const)('%s era: %j', async (era, args) => {
    await using fixture = await http('echo-http.mjs', args);
    await using session = await connect(httpTransport(fixture.url), era);
    expect(session.client.getProtocolEra()).toBe(era);
    await checkEcho(session.client, echoNames);
    const meta = JSON.parse(await call(session.client, 'meta', { region: 'north' }));
    expect(meta.authorization).toBe('Bearer for-the-fixture');
    expect(meta.headers).toContain('mcp-protocol-version');
    if (era === 'modern') expect(meta.region).toBe('north');
  });

  test('a client finds out the era by itself', async () => {
    await using legacy = await http('echo-http.mjs', ['--era', 'legacy', '--sessions']);
    await using both = await http('echo-http.mjs', []);
    await using old = await connect(httpTransport(legacy.url), 'auto');
    await using young = await connect(httpTransport(both.url), 'auto');
    expect([old.client.getProtocolEra(), young.client.getProtocolEra()]).toEqual(['legacy', 'modern']);
  });

  test('arguments come back as they were sent, and so does the log', async () => {
    const log = join(folder, 'raw.calls');
    await using fixture = await http('echo-http.mjs', ['--era', 'legacy'], { CALL_LOG: log });
    const raw = '{ "n": 12345678901234567890, "a":1, "a":2e0, "s":"\\u0041\\"}" }';
    const body = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"raw_args","arguments":${raw}}}`;
    const answer = await post(fixture.url, body);
    expect(JSON.parse(answer.body).result.content[0].text).toBe(raw);
    expect(await readFile(log, 'utf8')).toBe(`{"tool":"raw_args","id":7,"arguments":${raw}}\n`);
  });

  test('mirrored headers that differ from the body are refused', async () => {
    await using fixture = await http('echo-http.mjs', ['--era', 'modern']);
    const params = { name: 'echo', arguments: { message: 'x' }, _meta: modernMeta };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' };
    const wrong = await post(fixture.url, body, { ...headers, 'mcp-name': 'add' });
    expect([wrong.status, JSON.parse(wrong.body).error.code]).toEqual([400, -32020]);
    const right = await post(fixture.url, body, { ...headers, 'mcp-name': 'echo' });
    expect(right.status).toBe(200);
    const bare = await post(fixture.url, '{"jsonrpc":"2.0","id":2,"method":"tools/list"}');
    expect([bare.status, JSON.parse(bare.body).error.code]).toEqual([400, -32602]);
    const strange = JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'ping', params: { _meta: modernMeta } });
    const unknown = await post(fixture.url, strange, { ...headers, 'mcp-method': 'ping' });
    expect([unknown.status, JSON.parse(unknown.body).error.code]).toEqual([404, -32601]);
  });

  test('client sessions are asked for, unknown ones are gone', async () => {
    await using fixture = await http('echo-http.mjs', ['--era', 'legacy', '--sessions']);
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    expect((await post(fixture.url, body)).status).toBe(400);
    expect((await post(fixture.url, body, { 'mcp-session-id': 'nobody' })).status).toBe(404);
  });
});

describe('cancelling', () => {
  test.each([
    ['legacy', ['--era', 'legacy']],
    ['legacy', ['--era', 'legacy', '--sessions', '--sse']],
    ['modern', ['--era', 'modern']],
  ] as const)('%s era over HTTP: %j', async (era, args) => {
    const log = join(folder, `cancel-${args.join('')}.log`);
    await using fixture = await http('echo-http.mjs', args, { CANCEL_LOG: log });
    await using session = await connect(httpTransport(fixture.url), era);
    await cancelDuringProgress(session.client);
    expect(JSON.parse(await nonEmpty(log))).toMatchObject({ tool: 'slow' });
  });

  test('over stdio', async () => {
    const log = join(folder, 'cancel-stdio.log');
    const args = [fixturePath('echo-stdio.mjs')];
    const transport = new StdioClientTransport({ command: process.execPath, args, env: { CANCEL_LOG: log } });
    await using session = await connect(transport, 'legacy');
    await cancelDuringProgress(session.client);
    expect(JSON.parse(await nonEmpty(log))).toMatchObject({ tool: 'slow' });
  });
});

describe('a list that changes', () => {
  test.each([
    ['legacy', []],
    ['modern', ['--modern']],
  ] as const)('%s era over stdio', async (era, args) => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [fixturePath('tools-change.mjs'), ...args],
    });
    await checkGrowth(transport, era);
  });

  test.each([
    ['legacy', ['--http', '0']],
    ['modern', ['--http', '0', '--modern']],
  ] as const)('%s era over HTTP', async (era, args) => {
    await using fixture = await http('tools-change.mjs', args);
    await checkGrowth(httpTransport(fixture.url), era);
  });
});

describe('the conformance fixture', () => {
  test.each(['legacy', 'modern'] as const)('%s era over stdio', async (era) => {
    const args = [fixturePath('everything.mjs'), '--stdio'];
    await using session = await connect(new StdioClientTransport({ command: process.execPath, args }), era);
    expect(await call(session.client, 'test_simple_text', {})).toMatch(/simple text response/);
    const { tools } = await session.client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('test_input_required_result_multi_round');
  });
});

test('a fixture starts again on its port', async () => {
  await using fixture = await http('echo-http.mjs', []);
  const first = fixture.pid;
  await fixture.restart();
  expect(fixture.pid).not.toBe(first);
  await using session = await connect(httpTransport(fixture.url), 'modern');
  expect(await call(session.client, 'counter', {})).toBe('1');
});

test('a fixture that cannot start says why', async () => {
  await expect(startHttpFixture('bad-http.mjs', ['no-such-mode'])).rejects.toThrow(/usage: node bad-http\.mjs/);
});

test('the proxy adds its token and leaves the Host as it was', async () => {
  await using behind = await http('echo-http.mjs', ['--era', 'legacy']);
  await using proxy = await http('add-header-proxy.mjs', ['--to', behind.url], { AUTHORIZATION: 'Bearer added' });
  await using session = await connect(new StreamableHTTPClientTransport(new URL(proxy.url)), 'legacy');
  const meta = JSON.parse(await call(session.client, 'meta', {}));
  expect(meta.authorization).toBe('Bearer added');
  expect(meta.host).toBe(new URL(proxy.url).host);
});

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

async function checkEcho(client: Client, names: readonly string[]): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name).sort()).toEqual([...names].sort());
  expect(tools.find((tool) => tool.name === 'add')?.annotations).toEqual({ readOnlyHint: true });
  expect(await call(client, 'echo', { message: 'one\u2028line' })).toBe('one\u2028line');
  expect(await call(client, 'add', { a: 2, b: 3 })).toBe('5');
  expect(await call(client, 'big', { bytes: 300_000 })).toHaveLength(300_000);
  expect([await call(client, 'counter', {}), await call(client, 'counter', {})]).toEqual(['1', '2']);
  expect(await client.callTool({ name: 'fail', arguments: {} })).toMatchObject({ isError: true });
  await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow(/Unknown tool/);
}

async function cancelDuringProgress(client: Client): Promise<void> {
  const abort = new AbortController();
  const running = client.callTool(
    { name: 'slow', arguments: { ms: 60_000_000 } },
    { signal: abort.signal, timeout: 10_000 },
  );
  const cancelled = expect(running).rejects.toThrow(/enough/);
  const steps: number[] = [];
  await client.callTool(
    { name: 'slow', arguments: { ms: 50 } },
    { onprogress: ({ progress }) => void steps.push(progress) },
  );
  // The client hands notifications on by itself, so they may come after the answer.
  await vi.waitFor(() => expect(steps).toEqual([1, 2, 3, 4, 5]), { timeout: 60_000 });
  abort.abort(new Error('enough'));
  await cancelled;
}

async function checkGrowth(transport: Transport, era: Era): Promise<void> {
  let notify = (): void => {};
  const changed = new Promise<void>((resolve) => {
    notify = resolve;
  });
  await using session = await connect(transport, era, () => notify());
  const before = await session.client.listTools();
  expect(before.tools.map((tool) => tool.name)).toEqual(['grow', 'oak', 'elm', 'ash', 'fir']);
  if (era === 'modern') await session.client.listen({ toolsListChanged: true });
  expect(await call(session.client, 'grow', {})).toBe('sapling_1');
  await within(changed, 'tools/list_changed');
  const after = await session.client.listTools();
  expect(after.tools.map((tool) => tool.name)).toContain('sapling_1');
}

async function connect(transport: Transport, era: Era | 'auto', onChange?: () => void) {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
  const client = new Client({ name: 'fixture-test', version: '1.0.0' }, { versionNegotiation: { mode } });
  if (onChange) client.setNotificationHandler('notifications/tools/list_changed', onChange);
  await client.connect(transport);
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

function httpTransport(url: string): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: 'Bearer for-the-fixture' } },
  });
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  const first = content[0];
  if (first?.type !== 'text') throw new Error(`${name} answered no text`);
  return first.text;
}

async function http(
  file: string,
  args: readonly string[],
  env?: Record<string, string>,
): Promise<HttpFixture & AsyncDisposable> {
  const fixture = await startHttpFixture(file, args, env);
  return Object.assign(fixture, { [Symbol.asyncDispose]: () => fixture.stop() });
}

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const sent = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  const response = await fetch(url, { method: 'POST', body, headers: sent, signal: AbortSignal.timeout(10_000) });
  return { status: response.status, body: await response.text() };
}

/** What another process writes is there a moment later. */
function nonEmpty(file: string): Promise<string> {
  return vi.waitFor(
    async () => {
      const text = await readFile(file, 'utf8');
      expect(text).toMatch(/\n$/);
      return text;
    },
    { timeout: 60_000, interval: 20 },
  );
}
