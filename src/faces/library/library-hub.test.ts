import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { fixturePath } from '../../../test/support/fixture-servers.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { createHub, HubError } from '../../index.ts';
import { echo, openLibraryHub } from './library-stage.fixture.ts';

const team = {
  servers: {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
    echo: { ...echo, env: { WORD: '${WORD}' } },
    other: { command: process.execPath, args: [fixturePath('echo-modern.mjs')] },
  },
  agents: { tester: { servers: ['echo'], policies: { tools: { 'echo.add': 'require-approval' } } } },
  policies: { tools: { 'echo.counter': 'deny' } },
};

test(verifies('library:call', 'a program calls tools as an agent, under the rules of that agent'), async () => {
  const hub = await openLibraryHub(team);
  const tester = hub.agent('tester', { run: 'run-1' });
  const tools = await tester.tools();
  expect(tools.map(({ tool }) => tool).sort()).toEqual([
    'add',
    'big',
    'echo',
    'env',
    'fail',
    'meta',
    'raw_args',
    'slow',
  ]);
  expect(tools.find(({ tool }) => tool === 'add')).toEqual({
    name: 'echo_add',
    server: 'echo',
    tool: 'add',
    decision: 'ask',
    description: 'Adds two numbers',
    inputSchema: expect.objectContaining({ type: 'object', required: ['a', 'b'] }),
  });
  const said = await tester.call('echo.echo', { message: 'hi' });
  expect(said).toMatchObject({ content: [{ type: 'text', text: 'hi' }], isError: false, server: 'echo', tool: 'echo' });
  expect(JSON.parse(said.raw)).toEqual({ content: [{ type: 'text', text: 'hi' }] });
  expect((await tester.call('echo_env', { name: 'WORD' })).content).toEqual([{ type: 'text', text: 'from-env' }]);
  expect(await tester.call('echo.fail')).toMatchObject({ isError: true });
  expect(hub.status().map(({ name, state }) => [name, state])).toEqual([
    ['echo', 'connected'],
    ['other', 'idle'],
  ]);
});

test('failures are thrown with a code; hidden and unknown tools are the same', async () => {
  const hub = await openLibraryHub(team);
  const tester = hub.agent('tester');
  const codeOf = async (tool: string): Promise<unknown> => {
    const error: unknown = await tester.call(tool, {}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HubError);
    return error instanceof HubError ? error.code : undefined;
  };
  expect(await codeOf('echo.counter')).toBe('TOOL_UNKNOWN');
  expect(await codeOf('echo.nothing')).toBe('TOOL_UNKNOWN');
  expect(await codeOf('other.echo')).toBe('TOOL_UNKNOWN');
  expect(await codeOf('echo.add')).toBe('APPROVAL_REQUIRED');
  expect(() => hub.agent('tester', { run: '../x' })).toThrow('cannot be a run id');
  await expect(tester.call('echo.echo', { n: 1n })).rejects.toThrow('cannot be written as JSON');
  await expect(createHub({ workspace: join(tmpdir(), 'qm-not-there') })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
});

test('a call reports progress and ends when its signal aborts', async () => {
  const hub = await openLibraryHub({ servers: { echo } });
  const agent = hub.agent('anybody');
  const seen: number[] = [];
  const slow = await agent.call('echo.slow', { ms: 50 }, { onProgress: ({ progress }) => seen.push(progress) });
  expect(slow.content).toEqual([{ type: 'text', text: 'waited 50 ms' }]);
  expect(seen).toEqual([1, 2, 3, 4, 5]);
  const stop = new AbortController();
  const cancelled = agent.call('echo.slow', { ms: 60_000 }, { signal: stop.signal, onProgress: () => {} });
  stop.abort();
  await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
  await expect(agent.call('echo.echo', {}, { signal: stop.signal })).rejects.toMatchObject({ code: 'CANCELLED' });
});

test(verifies('library:quiet-import', 'importing the library opens nothing and lets the program end'), async () => {
  const entry = resolve(import.meta.dirname, '..', '..', '..', 'dist', 'library', 'index.js');
  const program = `
    const library = await import(${JSON.stringify(entry)});
    const names = Object.keys(library).sort();
    // What loading the files themselves took is closed by then.
    setTimeout(() => {
      const opened = process.getActiveResourcesInfo().filter((kind) => kind !== 'Timeout');
      console.log(JSON.stringify({ names, opened }));
    }, 100);`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    timeout: 60_000,
  });
  expect(JSON.parse(stdout)).toEqual({
    names: [
      'ApprovalPendingError',
      'HubError',
      'MCPServerError',
      'McpRateLimitError',
      'createHub',
      'errorTable',
      'withBackoff',
    ],
    opened: [],
  });
  expect(stderr).toBe('');
});
