import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../support/verifies.ts';
import { gitIn } from '../hub/trust.fixture.ts';
import { runHere } from '../run-here.fixture.ts';
import { agent, echo, type Machine, makeMachine } from './machine.fixture.ts';

const untracked = 'git does not ignore it';

async function withServer(): Promise<Machine> {
  const machine = await makeMachine({ git: true });
  await machine.put('quartermaster.yaml', { servers: { up: echo }, agents: { [agent]: { servers: ['up'] } } });
  await machine.put('.cursor/mcp.json', '{}\n');
  return machine;
}

/** A program in the workspace that leaves a mark. */
async function putTrap(machine: Machine, name: string): Promise<{ path: string; isSprung(): boolean }> {
  const mark = join(machine.home, 'mark');
  await machine.put(name, `#!/bin/sh\necho sprung >> '${mark}'\nexit 1\n`);
  await chmod(machine.path(name), 0o755);
  return { path: machine.path(name), isSprung: () => existsSync(mark) };
}

test.each(['node_modules/.bin', '.cursor'])(
  verifies('connect:git', 'a git in a folder of the workspace on the PATH is not run: %s'),
  async (folder) => {
    const { PATH = '' } = process.env;
    const machine = await withServer();
    const trap = await putTrap(machine, join(folder, 'git'));
    const env = { ...machine.env, PATH: [folder === '.cursor' ? '.' : dirname(trap.path), PATH].join(delimiter) };
    const args = ['connect', 'cursor', '--agent', agent, '--yes', '--no-start', '--no-wait'];
    const connected = await runHere(args, { cwd: machine.workspace, env });
    expect(connected).toMatchObject({ code: 0, stderr: expect.stringContaining(untracked) });
    expect(trap.isSprung()).toBe(false);
  },
);

test(verifies('connect:git', 'a remote of the repository runs nothing to fetch objects that are missing'), async () => {
  const machine = await withServer();
  const { workspace } = machine;
  const git = gitIn(workspace);
  for (const name of ['d/f', 'd/g', 'e/f']) await machine.put(name, name);
  git('add', 'd', 'e');
  git('commit', '-qm', 'one');
  git('sparse-checkout', 'set', '--cone', '--sparse-index', 'e');
  const tree = git('rev-parse', 'HEAD:d').trim();
  await rm(join(workspace, '.git/objects', tree.slice(0, 2), tree.slice(2)));
  const trap = await putTrap(machine, 'trap.sh');
  for (const [key, value] of [
    ['core.repositoryformatversion', '1'],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.url', workspace],
    ['remote.origin.uploadpack', trap.path],
    ['core.fsmonitor', trap.path],
  ] as const) {
    git('config', key, value);
  }
  expect((await machine.connect('cursor')).code).toBe(0);
  expect(trap.isSprung()).toBe(false);
});

test(verifies('connect:git', 'a pipe as .gitignore is not read'), async () => {
  const machine = await withServer();
  for (const pipe of ['.gitignore', '.cursor/.gitignore']) {
    execFileSync('mkfifo', [machine.path(pipe)]);
    const connected = await machine.connect('cursor');
    expect(connected.code).toBe(0);
    // Git was not asked, so nothing is said about it.
    expect(connected.stderr).not.toContain(untracked);
    expect((await machine.disconnect('cursor')).code).toBe(0);
    await rm(machine.path(pipe));
  }
});
