import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { createWorkspace, echoServer, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { programModule, programPath, run } from '../../support/programs.ts';
import { stateEnv } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, pause, within } from '../../support/within.ts';

/** Clients that others wrote, against the hub over HTTP and over stdio. */
const growing = { command: process.execPath, args: [fixturePath('tools-change.mjs')] };
const config = { servers: { echo: echoServer, growing } };
const patient = { timeout: 90_000 };
const qm = resolve(import.meta.dirname, '..', '..', '..', 'bin', 'qm');

/** A step right before the answer may be lost in a client that drops its handler with the answer. */
const earlySteps = [1, 2, 3, 4];

let hub: RunningGateway;
let token: string;
let workspace: string;
let home: string;

beforeAll(async () => {
  hub = await startGateway(config);
  token = await hub.token();
  workspace = await createWorkspace(config);
  home = await mkdtemp(join(tmpdir(), 'qm-clients-'));
});

afterAll(async () => {
  await hub?.stop();
  for (const folder of [workspace, home]) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

const authorization = (): string => `Bearer ${token}`;
const stdioArgs = (): string[] => [qm, 'stdio', '--agent', 'tester', '--workspace', workspace];
const stdioSpec = () => ({
  command: process.execPath,
  args: stdioArgs(),
  env: { PATH: process.env.PATH ?? '', ...stateEnv },
  stderr: 'pipe' as const,
});
const httpTransport = () =>
  new StreamableHTTPClientTransport(new URL(hub.url), { requestInit: { headers: { Authorization: authorization() } } });

const modes = [
  ['by default', undefined, 'legacy', '2025-11-25'],
  ['by negotiation', 'auto', 'modern', '2026-07-28'],
  ['pinned', { pin: '2026-07-28' }, 'modern', '2026-07-28'],
] as const;

describe.each(modes)('SDK v2 %s', (_, mode, era, version) => {
  test.each([
    [verifies('http:modern', 'over HTTP'), httpTransport],
    [verifies('stdio:view', 'over stdio'), () => new StdioClientTransport(stdioSpec())],
  ])('%s', patient, async (__, transport) => {
    const client = new Client(
      { name: 'second-line', version: '1' },
      mode === undefined ? {} : { versionNegotiation: { mode } },
    );
    await client.connect(transport());
    try {
      expect([client.getProtocolEra(), client.getNegotiatedProtocolVersion()]).toEqual([era, version]);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('echo_add');
      expect(await client.callTool({ name: 'echo', arguments: { message: 'hi' } })).toMatchObject({
        content: [{ type: 'text', text: 'hi' }],
      });
      const steps: number[] = [];
      await client.callTool(
        { name: 'echo_slow', arguments: { ms: 250 } },
        { onprogress: ({ progress }) => void steps.push(progress) },
      );
      expect(steps.slice(0, 4)).toEqual(earlySteps);
      const failed = await client.callTool({ name: 'echo_fail', arguments: {} });
      expect(failed).toMatchObject({ isError: true });
      await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toThrow(
        /Unknown tool: no_such_tool/,
      );
    } finally {
      await client.close();
    }
  });

  test('hears that the list has changed', patient, async () => {
    let changes = 0;
    const client = new Client(
      { name: 'second-line', version: '1' },
      {
        ...(mode === undefined ? {} : { versionNegotiation: { mode } }),
        listChanged: { tools: { onChanged: () => void changes++ } },
      },
    );
    await client.connect(httpTransport());
    try {
      await client.listTools();
      await eventually(async () => {
        // The stream that carries the news opens in its own time, and the client gathers news for a while.
        await client.callTool({ name: 'growing_grow', arguments: {} });
        await pause(500);
        return changes > 0 || undefined;
      }, 'a change of the list');
    } finally {
      await client.close();
    }
  });

  test('cancels what it no longer wants', patient, async () => {
    const client = new Client(
      { name: 'second-line', version: '1' },
      mode === undefined ? {} : { versionNegotiation: { mode } },
    );
    await client.connect(httpTransport());
    try {
      const enough = new AbortController();
      const slow = { name: 'echo_slow', arguments: { ms: 60_000 } };
      const called = client.callTool(slow, { signal: enough.signal, onprogress: () => enough.abort() });
      await expect(within(called, 'the call to end')).rejects.toThrow();
      await eventually(() => hub.hub.callsInFlight === 0 || undefined, 'the call to end in the hub');
    } finally {
      await client.close();
    }
  });
});

describe('SDK v1', () => {
  test(verifies('http:legacy', 'over HTTP'), patient, async () => {
    const transports = await import(programModule('@modelcontextprotocol/sdk/client/streamableHttp.js'));
    const requestInit = { headers: { Authorization: authorization() } };
    const transport = new transports.StreamableHTTPClientTransport(new URL(hub.url), { requestInit });
    const before = hub.gateway.clientSessions;
    await exercise(transport, async () => {
      expect(hub.gateway.clientSessions).toBe(before + 1);
      await transport.terminateSession();
      expect(hub.gateway.clientSessions).toBe(before);
    });
  });

  test('over stdio', patient, async () => {
    const transports = await import(programModule('@modelcontextprotocol/sdk/client/stdio.js'));
    await exercise(new transports.StdioClientTransport(stdioSpec()), async () => {});
  });

  async function exercise(transport: unknown, atEnd: () => Promise<void>): Promise<void> {
    const { Client: FirstLine } = await import(programModule('@modelcontextprotocol/sdk/client/index.js'));
    const client = new FirstLine({ name: 'first-line', version: '1' });
    await client.connect(transport);
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }: { name: string }) => name)).toContain('echo_add');
      const call = { name: 'echo_slow', arguments: { ms: 250 } };
      const steps: number[] = [];
      const answer = await client.callTool(call, undefined, {
        onprogress: ({ progress }: { progress: number }) => void steps.push(progress),
      });
      expect(answer).toMatchObject({ content: [{ text: 'waited 250 ms' }] });
      expect(steps.slice(0, 4)).toEqual(earlySteps);
      await client.ping();
      await atEnd();
    } finally {
      await client.close();
    }
  }
});

describe('MCP inspector', () => {
  const ask = async (target: readonly string[], ...method: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await run('inspectorCli', [...target, ...method], { timeoutMs: 60_000 });
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as Record<string, unknown>; // the inspector prints the result
  };

  test.each(['HTTP', 'stdio'])('over %s', patient, async (kind) => {
    const header = ['--header', `Authorization: ${authorization()}`];
    // The inspector hands its server only the variables that it is told.
    const variables = Object.entries(stateEnv).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const target =
      kind === 'HTTP' ? [hub.url, '--transport', 'http', ...header] : [process.execPath, ...stdioArgs(), ...variables];
    const listed = await ask(target, '--method', 'tools/list');
    expect(JSON.stringify(listed)).toContain('"echo_add"');
    const call = ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hi'];
    expect(await ask(target, ...call)).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
  });
});

describe('mcporter', () => {
  test.each(['HTTP', 'stdio'])('over %s', patient, async (kind) => {
    const server =
      kind === 'HTTP'
        ? { baseUrl: hub.url, headers: { Authorization: authorization() }, allowHttp: true }
        : { command: process.execPath, args: stdioArgs(), env: stateEnv };
    const file = join(home, `mcporter-${kind}.json`);
    await writeFile(file, JSON.stringify({ mcpServers: { hub: server } }));
    const options = { timeoutMs: 60_000 };
    const listed = await run('mcporter', ['--config', file, 'list', 'hub', '--json'], options);
    expect(listed.code, listed.stderr).toBe(0);
    expect(listed.stdout).toContain('"echo_add"');
    const call = ['--config', file, 'call', 'hub.echo', 'message=hi', '--output', 'json'];
    const called = await run('mcporter', call, options);
    expect(called.code, called.stderr).toBe(0);
    expect(JSON.parse(called.stdout)).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
  });
});

test('mcp-remote makes a stdio server of the hub', patient, async () => {
  const args = [programPath('mcpRemote'), hub.url, '--allow-http', '--header', `Authorization: ${authorization()}`];
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  const transport = new StdioClientTransport({ command: programPath('node24'), args, env, stderr: 'pipe' });
  const client = new Client({ name: 'behind-remote', version: '1' });
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo_add');
    const answer = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(answer).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
  } finally {
    await client.close();
  }
});
