import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { until } from './fixtures/processes.mjs';
import { gateLine, planLaunch } from './gate.ts';

// What /bin/sh is on one system or another.
const shells = ['/bin/dash', '/bin/bash', '/bin/busybox', '/bin/sh'].filter((shell) => existsSync(shell));
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-gate-'));
});

afterEach(() => rm(folder, { recursive: true }));

test.each(shells)(verifies('children:gate', '%s: EOF before the line, and the command never runs'), async (shell) => {
  const marker = join(folder, 'ran');
  const child = launch(shell, '/usr/bin/touch', [marker]);
  child.stdin?.end();
  await until(() => child.exitCode !== null, 'the shell is gone');
  expect(child.exitCode).not.toBe(0);
  expect(existsSync(marker)).toBe(false);
});

test.each(shells)('%s: half a line is no line', async (shell) => {
  const marker = join(folder, 'ran');
  const child = launch(shell, '/usr/bin/touch', [marker]);
  child.stdin?.end('x');
  await until(() => child.exitCode !== null, 'the shell is gone');
  expect(existsSync(marker)).toBe(false);
});

test.each(shells)("%s: what follows the line in the same write is the command's", async (shell) => {
  const child = launch(shell, '/bin/cat', []);
  const bytes = `{"a":"\\\\n"}\n \n${'x'.repeat(100_000)}`;
  child.stdin?.end(`${gateLine}${bytes}`);
  expect(child.stdout && (await text(child.stdout))).toBe(bytes);
});

test.each(shells)('%s: the command gets the environment that the shell got', async (shell) => {
  const child = launch(shell, '/usr/bin/env', []);
  child.stdin?.end(gateLine);
  const lines = (child.stdout ? await text(child.stdout) : '').trim().split('\n');
  // bash adds these two to whatever it executes.
  expect(lines.filter((line) => !/^(_|SHLVL)=/.test(line)).sort()).toEqual(['A=1', 'PATH=/usr/bin:/bin']);
});

test.each(['with-dash', '1ST', 'a b', 'npm_config_@x:y', 'IFS', 'PWD', 'UID', ''])(
  'no gate where a shell would not hand on %j',
  (name) => {
    expect(planLaunch('/bin/cat', ['x'], { OK: '', [name]: '' })).toEqual({
      file: '/bin/cat',
      args: ['x'],
      gated: false,
    });
  },
);

function launch(shell: string, command: string, args: string[]): ChildProcess {
  const planned = planLaunch(command, args, { A: '1' });
  expect(planned).toMatchObject({ file: '/bin/sh', gated: true });
  return spawn(shell, planned.args, {
    argv0: 'sh',
    env: { A: '1', PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}
