import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive, pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { modernClient } from '../../support/mcp-clients.ts';
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
  // It fits a usual screen, and everything it names works.
  const shown = said.slice(said.indexOf('Quartermaster serves')).trimEnd().split('\n');
  const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0);
  expect(rows).toBeLessThan(24);
  expect(said).not.toContain('ledger');
  const commands = shown.filter((line) => line.startsWith('  ../../bin/qm '));
  expect(commands).toHaveLength(4);
  const cwd = join(clone, 'examples', 'team');
  for (const command of commands) {
    const options = { cwd, env: { PATH: process.env.PATH, HOME: tmpdir(), ...stateEnv } };
    const ran = await promisify(execFile)('bash', ['-c', command], options).catch((error: { code: number }) => error);
    // The explanation exits with 5, because the call is denied.
    expect('code' in ran ? ran.code : 0, command).toBe(command.includes('explain') ? 5 : 0);
  }
  const [snippet = ''] = shown.filter((line) => line.startsWith('  {'));
  const { mcpServers } = JSON.parse(snippet) as {
    mcpServers: { team: { url: string; headers: Record<string, string> } };
  };
  const token = (mcpServers.team.headers.Authorization ?? '').replace('Bearer ', '');
  const listed = await modernClient(mcpServers.team.url, token).request('tools/list');
  expect(JSON.stringify(listed)).toContain('everything_echo');

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
