import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive, pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { layoutOf, stateEnv } from '../../support/state-home.ts';
import { eventually, within } from '../../support/within.ts';

const root = resolve(import.meta.dirname, '..', '..', '..');

test('npm start runs the example team, and Ctrl-C ends it all', async () => {
  const clone = await freshClone();
  const start = spawn(process.execPath, [join(clone, 'scripts', 'start.mjs')], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...stateEnv },
  });
  const pid = start.pid ?? -1;
  let said = '';
  for (const stream of [start.stdout, start.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const exit = new Promise<number | null>((done) => start.once('close', done));
  onTestFinished(async () => {
    if (isAlive(pid)) process.kill(-pid, 'SIGKILL');
    await exit;
  });
  await eventually(
    () => {
      if (!isAlive(pid)) throw new Error(`it ended: ${said}`);
      return said.includes('Ctrl-C ends the hub') || undefined;
    },
    'things to try',
    90_000,
  );

  expect(said).toMatch(/list {4}16 tools/);
  expect(said).toContain('read    # Welcome');
  expect(said).toContain('write   Unknown tool: files_write_file');
  const token = /QM_TOKEN=(\S+)/.exec(said)?.[1] ?? '';
  const [list, call] = await Promise.all(curls(said).map((command) => replay(command, token)));
  expect(list).toMatchObject({
    result: { tools: expect.arrayContaining([expect.objectContaining({ name: 'everything_echo' })]) },
  });
  expect(JSON.stringify(call)).toContain('This file is served by');

  const state = layoutOf(join(clone, 'examples', 'team')).folder;
  const { pid: hub } = JSON.parse(await readFile(join(state, 'serve.json'), 'utf8')) as { pid: number };
  expect((await stat(join(state, 'start-token-tester'))).mode & 0o777).toBe(0o600);
  // A terminal sends Ctrl-C to the whole process group.
  process.kill(-pid, 'SIGINT');
  expect(await within(exit, 'the end')).toBe(0);
  expect([isAlive(hub), pidsOfHub(hub)]).toEqual([false, []]);
}, 180_000);

test('the servers of the example are among our own dependencies', async () => {
  const { mcpServers } = JSON.parse(await readFile(join(root, 'examples', 'team', '.mcp.json'), 'utf8')) as {
    mcpServers: Record<string, { args: string[] }>;
  };
  const files = Object.values(mcpServers).map(({ args }) => resolve(root, 'examples', 'team', args[0] ?? ''));
  expect(files).toEqual(
    [
      import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
      import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'),
      import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
    ].map((url) => new URL(url).pathname),
  );
});

/** A workspace after `git clone` and `npm ci`. Large and built folders are only linked. */
async function freshClone(): Promise<string> {
  const clone = await realpath(await mkdtemp(join(tmpdir(), 'qm-start-')));
  onTestFinished(() => rm(clone, { recursive: true, force: true, maxRetries: 3 }));
  await mkdir(join(clone, 'examples'));
  const ours = (path: string): boolean => !/\.(quartermaster|runs)$/.test(path);
  await cp(join(root, 'examples', 'team'), join(clone, 'examples', 'team'), { recursive: true, filter: ours });
  for (const name of ['bin', 'scripts']) await cp(join(root, name), join(clone, name), { recursive: true });
  for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json'])
    await cp(join(root, name), join(clone, name));
  for (const name of ['dist', 'src', 'node_modules']) await symlink(join(root, name), join(clone, name));
  return clone;
}

/** The printed commands, ready to be copied. */
function curls(text: string): string[] {
  return [...text.matchAll(/curl -s [^\n]* \\\n[^\n]* \\\n[^\n]*/g)].map((match) => match[0]);
}

async function replay(command: string, token: string): Promise<unknown> {
  const url = /curl -s (\S+)/.exec(command)?.[1] ?? '';
  const body = / -d '(.*)'$/.exec(command)?.[1] ?? '';
  const headers = [...command.matchAll(/-H ["']([^:]+): ([^"']*)["']/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value.replace('$QM_TOKEN', token)],
  );
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(20_000) });
  return response.json();
}
