import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayForTest, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { clientInfo, initializeRequest, legacyClient, textOf } from '../../support/mcp-clients.ts';
import { ask } from '../../support/mcp-http.ts';
import { programModule, programPath, run } from '../../support/programs.ts';
import { listenOverSse } from '../../support/sse-client.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

/** Clients that are older than the hub, or that begin otherwise than most. */
const patient = { timeout: 90_000 };

let hub: RunningGateway;
let token: string;

beforeAll(async () => {
  hub = await startGateway();
  token = await hub.token();
});

afterAll(() => hub?.stop());

const headers = () => ({ Authorization: `Bearer ${token}` });
const sseUrl = (): URL => new URL(`${hub.origin}/sse`);

describe(verifies('http:sse', 'clients that others wrote, over /sse'), () => {
  test('SDK v1, which hears steps and cancels', patient, async () => {
    const { Client: FirstLine } = await import(programModule('@modelcontextprotocol/sdk/client/index.js'));
    const transports = await import(programModule('@modelcontextprotocol/sdk/client/sse.js'));
    const client = new FirstLine(clientInfo);
    const before = hub.gateway.clientSessions;
    await client.connect(new transports.SSEClientTransport(sseUrl(), { requestInit: { headers: headers() } }));
    try {
      expect(hub.gateway.clientSessions).toBe(before + 1);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }: { name: string }) => name)).toContain('echo_add');
      const steps: number[] = [];
      const call = { name: 'echo_slow', arguments: { ms: 250 } };
      const answer = await client.callTool(call, undefined, {
        onprogress: ({ progress }: { progress: number }) => void steps.push(progress),
      });
      expect(answer).toMatchObject({ content: [{ text: 'waited 250 ms' }] });
      expect(steps.slice(0, 4)).toEqual([1, 2, 3, 4]);
      const enough = new AbortController();
      const slow = { name: 'echo_slow', arguments: { ms: 60_000 } };
      const options = { signal: enough.signal, onprogress: () => enough.abort() };
      await expect(within(client.callTool(slow, undefined, options), 'the call to end')).rejects.toThrow();
      await expect.poll(() => hub.hub.callsInFlight).toBe(0);
    } finally {
      await client.close();
    }
    await expect.poll(() => hub.gateway.clientSessions).toBe(before);
  });

  test('SDK v1 after its stream broke: it opens another, and goes on without a handshake', patient, async () => {
    const narrow = await gatewayForTest({ serve: { maxClientSessions: 1 } });
    const { Client: FirstLine } = await import(programModule('@modelcontextprotocol/sdk/client/index.js'));
    const transports = await import(programModule('@modelcontextprotocol/sdk/client/sse.js'));
    const client = new FirstLine(clientInfo);
    const requestInit = { headers: { Authorization: `Bearer ${await narrow.token()}` } };
    await client.connect(new transports.SSEClientTransport(new URL(`${narrow.origin}/sse`), { requestInit }));
    try {
      const other = await listenOverSse(narrow.origin, await narrow.token());
      await within(other.stream.ended, 'the first client to come again');
      const call = { name: 'echo', arguments: { message: 'again' } };
      // It may not have read the new address yet.
      const answer = await eventually(() => client.callTool(call).catch(() => undefined), 'an answer');
      expect(answer).toMatchObject({ content: [{ text: 'again' }] });
    } finally {
      await client.close();
    }
  });

  test('MCP inspector', patient, async () => {
    const target = [sseUrl().href, '--transport', 'sse', '--header', `Authorization: Bearer ${token}`];
    const call = ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hi'];
    const { code, stdout, stderr } = await run('inspectorCli', [...target, ...call], { timeoutMs: 60_000 });
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
  });
});

describe('a client that was given /sse and tries the newer transport first', () => {
  async function echo(transport: Transport): Promise<void> {
    const client = new Client(clientInfo);
    await client.connect(transport);
    try {
      const answer = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
      expect(answer).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
    } finally {
      await client.close();
    }
  }

  test('the SDK, as its pages advise', patient, async () => {
    const requestInit = { headers: headers() };
    const newer = new StreamableHTTPClientTransport(sseUrl(), { requestInit });
    await expect(new Client(clientInfo).connect(newer)).rejects.toThrow();
    await echo(new SSEClientTransport(sseUrl(), { requestInit }));
  });

  test('mcp-remote, by itself', patient, async () => {
    const home = await mkdtemp(join(tmpdir(), 'qm-odd-'));
    try {
      const header = ['--header', `Authorization: Bearer ${token}`];
      const args = [programPath('mcpRemote'), sseUrl().href, '--allow-http', ...header];
      const env = { PATH: process.env.PATH ?? '', HOME: home };
      await echo(new StdioClientTransport({ command: programPath('node24'), args, env, stderr: 'pipe' }));
    } finally {
      await rm(home, { recursive: true, force: true, maxRetries: 3 });
    }
  });
});

describe(verifies('http:odd-clients', 'what is odd is answered at once'), () => {
  test.each(['/', '/mcp/', '/mcp/sse', '/sse/', '/messages/', '/mcp//', '/MCP'])(
    'a message to %s is 404, and says where to go',
    async (path) => {
      const url = `${hub.origin}${path}`;
      for (const what of [{ body: initializeRequest() }, {}, { method: 'DELETE' }]) {
        const answer = await ask(url, { headers: headers(), ...what });
        expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('connect to /mcp')]);
      }
      const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: headers() } });
      await expect(new Client(clientInfo).connect(transport)).rejects.toThrow(/connect to \/mcp/);
    },
  );

  test('the question of the newer era in words of no era', async () => {
    const probe = { jsonrpc: '2.0', id: 'probe', method: 'server/discover', params: { clientInfo } };
    const posted = await ask(hub.url, { headers: headers(), body: probe });
    expect([posted.status, posted.message.id]).toEqual([400, 'probe']);
    const client = await listenOverSse(hub.origin, token);
    await client.post(probe);
    expect((await client.answer('probe')).error?.code).toBe(-32601);
    await client.post(initializeRequest('2024-11-05'));
    expect((await client.answer('init')).result).toMatchObject({ protocolVersion: '2024-11-05' });
    client.stream.close();
  });

  test('a stream that is asked for before the handshake, which then succeeds', async () => {
    const early = await ask(hub.url, { headers: { ...headers(), accept: 'text/event-stream' } });
    expect(early.status).toBe(400);
    const client = await legacyClient(hub.url, token);
    expect((await client.request('ping')).status).toBe(200);
  });

  test('requests that never name their revision', async () => {
    const client = await legacyClient(hub.url, token, '2025-06-18');
    const silent = { headers: { 'mcp-protocol-version': undefined } };
    expect(textOf((await client.call('echo', { message: 'hi' }, silent)).message)).toBe('hi');
  });

  test('requests over /sse before the handshake, or without any', async () => {
    const client = await listenOverSse(hub.origin, token);
    expect((await client.request('ping')).result).toEqual({});
    expect(textOf(await client.call('echo', { message: 'hi' }))).toBe('hi');
    client.stream.close();
  });
});
