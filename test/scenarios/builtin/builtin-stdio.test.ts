import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import { programModule } from '../../support/programs.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, runQm, startQm } from '../qm.fixture.ts';
import { runOnScreen } from '../screen.fixture.ts';

/** The built-in servers as programs of their own, with clients that others wrote. */
const qm = resolve(import.meta.dirname, '..', '..', '..', 'bin', 'qm');
const run = promisify(execFile);

async function repository(): Promise<string> {
  const folder = await makeWorkspace();
  const git = (...args: string[]) =>
    run('git', ['-C', folder, '-c', 'user.name=A', '-c', 'user.email=a@b.example', ...args]);
  await git('init', '-q', '-b', 'main');
  await writeFile(join(folder, 'a.txt'), 'one\n');
  await git('add', 'a.txt');
  await git('commit', '-q', '-m', 'Add a');
  return folder;
}

describe.each([
  ['legacy', {}],
  ['modern', { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
] as const)('SDK v2, %s', (era, options) => {
  test(verifies('builtin:both-eras', 'lists and calls'), async () => {
    const folder = await repository();
    const client = new Client({ name: 'second-line', version: '1' }, options);
    const args = [qm, 'builtin', 'git', '--repository', folder];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'pipe' }));
    try {
      expect(client.getProtocolEra()).toBe(era);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).sort()).toEqual([
        ...['git_blame', 'git_diff', 'git_log', 'git_search', 'git_show', 'git_status'],
      ]);
      for (const { annotations, inputSchema } of tools) {
        expect(annotations).toMatchObject({ readOnlyHint: true });
        expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      }
      expect(await client.callTool({ name: 'git_log', arguments: {} })).toMatchObject({
        content: [{ type: 'text', text: expect.stringContaining('Add a') }],
      });
    } finally {
      await client.close();
    }
  });
});

test('SDK v1 lists the tools of each', async () => {
  const { Client: OldClient } = await import(programModule('@modelcontextprotocol/sdk/client/index.js'));
  const { StdioClientTransport: OldTransport } = await import(
    programModule('@modelcontextprotocol/sdk/client/stdio.js')
  );
  const folder = await repository();
  for (const [name, count] of [
    ['git', 6],
    ['fetch', 4],
  ] as const) {
    const client = new OldClient({ name: 'first-line', version: '1' });
    const env = { PATH: process.env.PATH ?? '' };
    const args = [qm, 'builtin', name, '--workspace', folder];
    await client.connect(new OldTransport({ command: process.execPath, args, env, stderr: 'pipe' }));
    try {
      expect((await client.listTools()).tools).toHaveLength(count);
    } finally {
      await client.close();
    }
  }
});

test('a line piped in is answered, and then it ends', async () => {
  const folder = await repository();
  const input = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"git_status"}}\n';
  const { code, stdout } = await runQm(['builtin', 'git', '--workspace', folder], { input });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { content: [{ text: expect.stringContaining('main') }] } });
});

test('at a terminal it prints what it waits for', async () => {
  for (const args of [
    ['builtin', 'fetch'],
    ['stdio', '--agent', 'me'],
  ]) {
    const running = runOnScreen(args, { workspace: await makeWorkspace(), columns: 100 });
    await eventually(
      () => running.stderr().includes('This command is meant to be started by an MCP client') || undefined,
      'the word',
    );
    running.signal('SIGINT');
    await running.ended;
    expect(running.stdout()).toBe('');
  }
});

test('Ctrl-C and SIGTERM end it', async () => {
  const folder = await repository();
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 0],
  ] as const) {
    const running = startQm(['builtin', 'git', '--workspace', folder]);
    running.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    await running.line();
    running.signal(signal);
    expect((await running.ended()).code).toBe(code);
  }
});

test.each([
  [['git', '--repository', 'nowhere'], 3, /nowhere/],
  [['git', '--max-bytes', 'many'], 2, /--max-bytes must be a whole number/],
  [['fetch', '--timeout', '0'], 2, /--timeout must be a whole number/],
  [['pg-readonly'], 3, /PG_RO_URL/],
  [['gti'], 2, /git/],
  [['git', '--colour', 'red'], 2, /--colour/],
])('what it cannot work with is told on stderr: %j', async (args, code, message) => {
  const folder = await repository();
  const told = await runQm(['builtin', ...args, '--workspace', folder]);
  expect(told).toMatchObject({ code, stdout: '' });
  expect(told.stderr).toMatch(message);
});

test('help names options and variables', async () => {
  const { stdout } = await runQm(['builtin', 'pg-readonly', '--help']);
  expect(stdout).toContain('--allow-function');
  expect(stdout).toContain('PG_RO_URL');
});
