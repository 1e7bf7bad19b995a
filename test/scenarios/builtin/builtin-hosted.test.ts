import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createHub as createLibraryHub } from '../../../src/index.ts';
import { isAlive, pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { openStage } from '../../support/hub.ts';
import { openSession, servedWorkspace } from '../../support/served-hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, runQm } from '../qm.fixture.ts';

const run = promisify(execFile);

/** Makes the folder a repository with one commit. */
async function makeRepository(folder: string): Promise<void> {
  const git = (...args: string[]) =>
    run('git', ['-C', folder, '-c', 'user.name=A', '-c', 'user.email=a@b.example', ...args]);
  await git('init', '-q', '-b', 'main');
  await writeFile(join(folder, 'tracked.txt'), 'one line\n');
  await git('add', 'tracked.txt');
  await git('commit', '-q', '-m', 'The first of all commits');
}

const gitTools = ['git_blame', 'git_diff', 'git_log', 'git_search', 'git_show', 'git_status'];

test(verifies('builtin:hosted', 'its calls are decided, recorded and limited as those of any server'), async () => {
  const stage = await openStage();
  await makeRepository(stage.workspace);
  await stage.start({
    servers: {
      git: { builtin: 'git', scopes: ['read:git'], limits: { rate_per_min: 2 } },
      broken: { builtin: 'git', args: ['--repository', 'nowhere'] },
    },
    policies: { tools: { 'git.git_blame': 'deny' } },
  });
  expect(await stage.names()).toEqual(gitTools.filter((name) => name !== 'git_blame'));
  expect(await stage.say('git_log')).toContain('The first of all commits');
  expect(stage.status('git')).toMatchObject({
    state: 'connected',
    transport: 'builtin',
    protocolVersion: '2026-07-28',
  });
  expect(stage.children()).toEqual([]);
  expect(await stage.call('git_blame', { file: 'tracked.txt' })).toMatchObject({ error: { code: 'TOOL_UNKNOWN' } });
  expect(await stage.call('git_status', { nothing: 1 })).toMatchObject({ result: { value: { isError: true } } });
  expect(await stage.call('git_status')).toMatchObject({ error: { code: 'RATE_LIMITED' } });
  expect(stage.status('broken').error).toContain('nowhere');
  const lines = await stage.ledger();
  expect(lines.map(({ tool, outcome, transport }) => [tool, outcome, transport])).toEqual([
    ['git_log', 'ok', 'builtin'],
    ['git_blame', 'denied', null],
    ['git_status', 'tool_error', 'builtin'],
    ['git_status', 'rate_limited', null],
  ]);
});

test(verifies('builtin:turns', 'slow pages of one agent keep no other agent waiting'), async () => {
  const slow: ServerResponse[] = [];
  const web = createServer((request, response) => {
    if (request.url === '/slow') slow.push(response);
    else response.end('fast');
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void web.close());
  const site = `127.0.0.1:${(web.address() as AddressInfo).port}`; // it listens on a port
  const stage = await openStage();
  const agents = { greedy: { servers: ['web'] }, other: { servers: ['web'] } };
  await stage.start({ servers: { web: { builtin: 'fetch', args: ['--allow', site] } }, agents });
  await stage.hub.discover();
  const fetch = (path: string, agent: string) =>
    stage.say('web_fetch_url', { url: `http://${site}${path}` }, { agent });
  const calls = Array.from({ length: 40 }, () => fetch('/slow', 'greedy'));
  await eventually(() => slow.length === 16 || undefined, 'half of the turns to be taken');
  expect(await fetch('/fast', 'other')).toContain('fast');
  expect(slow).toHaveLength(16);
  await eventually(() => {
    for (const response of slow.splice(0)) response.end('done');
    return stage.hub.load().every(({ inFlight }) => inFlight === 0) || undefined;
  }, 'the rest to be served');
  for (const answer of await Promise.all(calls)) expect(answer).toContain('done');
});

test('doctor, inspect and call know it as any other; a program has it too', async () => {
  const workspace = await makeWorkspace({ servers: { repo: { builtin: 'git' }, away: { builtin: 'pg-readonly' } } });
  await makeRepository(workspace);
  const doctor = await runQm(['doctor', '--json', '--workspace', workspace]);
  const { servers } = JSON.parse(doctor.stdout) as { servers: { name: string; verdict: string; advice?: string[] }[] };
  expect(servers.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['repo', 'reachable'],
    ['away', 'unreachable'],
  ]);
  expect(doctor.stdout).toContain('PG_RO_URL');
  expect(doctor.code).toBe(1);
  const called = await runQm(['call', 'repo.git_log', '--agent', 'a', '--workspace', workspace]);
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('The first of all commits') });
  const hub = await createLibraryHub({ workspace });
  try {
    expect((await hub.agent('a').call('repo.git_status')).raw).toContain('main');
  } finally {
    await hub.close();
  }
});

test('kill -9 of the hub leaves nothing of what a server inside it had started', async () => {
  const programs = await makeWorkspace();
  const fake = join(programs, 'git');
  const real = (await run('sh', ['-c', 'command -v git'])).stdout.trim();
  // Everything but `log` works; that one ignores every polite word.
  await writeFile(
    fake,
    `#!/bin/sh\ncase " $* " in *" log "*) trap '' TERM HUP INT PIPE; /bin/sleep 600; /bin/sleep 600;; *) exec ${real} "$@";; esac\n`,
  );
  await chmod(fake, 0o755);
  const workspace = await servedWorkspace({
    servers: { git: { builtin: 'git', env: { PATH: `${programs}:/usr/bin:/bin` } } },
  });
  await makeRepository(workspace.folder);
  const { token } = (await workspace.qm('token', 'issue', '--agent', 'tester')) as { token: string };
  const hub = await workspace.serve();
  const client = await openSession(hub.url, token);
  const lost = client.call('git_log', {});
  await eventually(() => pidsOfHub(hub.pid).length >= 2 || undefined, 'git to run');
  const pids = pidsOfHub(hub.pid).map(Number);
  await hub.kill('SIGKILL');
  expect(await lost).toBeUndefined();
  await client.close();
  await eventually(() => pids.every((pid) => !isAlive(pid)) || undefined, 'git to be gone', 5000);
});
