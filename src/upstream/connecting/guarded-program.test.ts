import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { StdioTransportSpec } from '../../domain/index.ts';
import { guardedProgram, npmShellScript } from './guarded-program.ts';

const run = promisify(execFile);

async function makeFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'qm-guarded-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A registry with one package, whose program prints its working folder and arguments, and the PATH in that folder. */
async function startRegistry(folder: string): Promise<string> {
  const source = join(folder, 'package');
  await mkdir(source);
  const manifest = { name: 'qm-sample', version: '1.0.0', bin: { 'qm-sample-server': 'cli.js' } };
  await writeFile(join(source, 'package.json'), JSON.stringify(manifest));
  const code = `
    const here = process.env.PATH.split(':').filter((folder) => !folder.startsWith('/') || folder.startsWith(process.cwd()));
    console.log(JSON.stringify([process.cwd(), process.env.INIT_CWD, process.argv.slice(2), here]));`;
  await writeFile(join(source, 'cli.js'), `#!/usr/bin/env node\n${code}\n`, { mode: 0o755 });
  const tarball = join(folder, 'package.tgz');
  await run('tar', ['-czf', tarball, '-C', folder, 'package']);
  const bytes = await readFile(tarball);
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  const server = createServer((request, response) => {
    if (request.url === '/package.tgz') return void response.end(bytes);
    const { port } = server.address() as AddressInfo; // it listens on TCP
    const dist = { tarball: `http://127.0.0.1:${port}/package.tgz`, integrity };
    response.statusCode = request.url === '/qm-sample' ? 200 : 404;
    response.end(
      JSON.stringify({
        name: 'qm-sample',
        'dist-tags': { latest: '1.0.0' },
        versions: { '1.0.0': { ...manifest, dist } },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`; // it listens on TCP
}

async function outputOf(program: StdioTransportSpec, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const npmShell = join(await makeFolder(), 'npm-shell');
  await writeFile(npmShell, npmShellScript, { mode: 0o700 });
  const { command, args, cwd, startIn = cwd, env: own } = guardedProgram('files', program, { npmShell });
  const all = { PATH: process.env.PATH ?? '', ...env, ...own };
  const { stdout } = await run(command, args, { cwd: startIn, env: all }).catch((error: { stdout: string }) => error);
  return stdout;
}

test(
  verifies(
    'trust:guarded',
    'npx takes neither settings nor packages from the workspace, and its program still runs there',
  ),
  async () => {
    const folder = await makeFolder();
    const registry = await startRegistry(folder);
    const workspace = join(folder, 'workspace');
    await mkdir(join(workspace, 'node_modules/qm-sample'), { recursive: true });
    await writeFile(join(workspace, 'evil.cjs'), '#!/usr/bin/env node\nconsole.log("EVIL")\n');
    await writeFile(join(workspace, '.npmrc'), `node-options=--require=${workspace}/evil.cjs\n`);
    await writeFile(join(workspace, 'package.json'), '{"name":"x","version":"1.0.0","bin":{"qm-sample":"evil.cjs"}}');
    const home = { HOME: folder, npm_config_registry: registry, npm_config_update_notifier: 'false' };
    const program: StdioTransportSpec = {
      type: 'stdio',
      command: 'npx',
      args: ['-y', 'qm-sample', '.', 'a b "c" $d'],
      env: {},
      cwd: workspace,
    };
    expect(await outputOf(program, home)).toContain('EVIL');
    const guarded = await outputOf({ ...program, guard: 'npm' }, home);
    expect(JSON.parse(guarded)).toEqual([workspace, workspace, ['.', 'a b "c" $d'], []]);
    const words = ['exec', '-y', '--', 'qm-sample', '.'];
    const exec = await outputOf({ ...program, command: 'npm', args: words, guard: 'npm' }, home);
    expect(JSON.parse(exec)).toEqual([workspace, workspace, ['.'], []]);
  },
);

test(verifies('trust:guarded', 'python -m takes no module from the workspace'), async () => {
  const { stdout: version } = await run('python3', ['-c', 'import sys; print(sys.version_info >= (3, 11))']);
  expect(version.trim(), 'Python 3.11 or newer').toBe('True');
  const workspace = await makeFolder();
  for (const module of ['calendar', 'datetime']) await writeFile(join(workspace, `${module}.py`), 'print("EVIL")');
  const program: StdioTransportSpec = {
    type: 'stdio',
    command: 'python3',
    args: ['-m', 'calendar', '2026', '1'],
    env: {},
    cwd: workspace,
  };
  expect(await outputOf(program)).toContain('EVIL');
  const guarded = await outputOf({ ...program, guard: 'python' });
  expect(guarded).toContain('January 2026');
  expect(guarded).not.toContain('EVIL');
});

test(verifies('trust:guarded', 'a program that would run code nobody approved is not started'), () => {
  const program: StdioTransportSpec = { type: 'stdio', command: 'npx', args: ['x'], env: {}, cwd: '/' };
  const programs = { npmShell: '/bin/sh' };
  expect(() => guardedProgram('files', { ...program, guard: 'unapproved' }, programs)).toThrow('nobody approved');
  expect(guardedProgram('files', program, programs)).toBe(program);
});
