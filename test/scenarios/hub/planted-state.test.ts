import { execFile } from 'node:child_process';
import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { type ServedWorkspace, servedWorkspace } from '../../support/served-hub.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';

const run = promisify(execFile);
const echo = { command: process.execPath, args: [fixturePath('echo-stdio.mjs')] };

test(verifies(
  'state:foreign-ignored',
  'tokens, keys and locks of a state folder that came with a repository are not used',
), async () => {
  const mine = await attackersWorkspace();
  const victim = await cloneOf(mine.workspace);
  const hub = await victim.serve();
  const admin = (token: string) =>
    fetch(new URL('/api/health', hub.url), { headers: { authorization: `Bearer ${token}` } });
  expect((await admin(mine.adminToken)).status).toBe(401);
  const headers = { authorization: `Bearer ${mine.agentToken}`, 'content-type': 'application/json' };
  expect((await fetch(hub.url, { method: 'POST', headers, body: '{}' })).status).toBe(401);
  // Its own are new, and the operator is told.
  const state = layoutOf(victim.folder).folder;
  expect((await admin((await readFile(join(state, 'admin-token'), 'utf8')).trim())).status).toBe(200);
  expect(hub.log()).toContain('state.foreign-ignored');
  expect(await victim.qm('token', 'ls')).toEqual([]);
  // Nothing in it was touched. Git keeps no empty folders.
  const planted = await readdir(join(victim.folder, '.quartermaster'));
  expect(planted).toEqual(expect.arrayContaining(['admin-token', 'lock', 'serve.json', 'tokens.json']));
}, 60_000);

test(verifies(
  'state:foreign-ignored',
  'a command asks no hub that only a planted file names, and gives it no token',
), async () => {
  const asked: string[] = [];
  const trap = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    response.end('{"servers":[],"problems":[]}');
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void trap.close());
  const { port } = trap.address() as AddressInfo;
  const mine = await attackersWorkspace(`http://127.0.0.1:${port}`);
  const victim = await cloneOf(mine.workspace);
  expect(await victim.qm('ls')).toMatchObject({ hub: null });
  expect(await victim.qm('token', 'ls')).toEqual([]);
  expect(asked).toEqual([]);
}, 60_000);

/** State as an attacker can prepare it: with tokens that they know, a hub that seems to run, and a lock that stays. */
async function attackersWorkspace(url = 'http://127.0.0.1:1') {
  const workspace = await servedWorkspace({ servers: { echo } });
  const { token: agentToken } = (await workspace.qm('token', 'issue', '--agent', 'evil')) as { token: string };
  await (await workspace.serve()).kill('SIGTERM');
  const state = layoutOf(workspace.folder).folder;
  const adminToken = (await readFile(join(state, 'admin-token'), 'utf8')).trim();
  const serve = { url, pid: 1, startTime: '', workspace: '/', adminTokenFile: join(state, 'admin-token') };
  await writeFile(join(state, 'serve.json'), JSON.stringify(serve), { mode: 0o600 });
  const lock = { pid: 1, startTime: '', host: 'far-away', nonce: '0123456789abcdef' };
  await writeFile(join(state, 'lock/hub'), JSON.stringify(lock), { mode: 0o600 });
  // Where an earlier version kept it, and with the proof that such a version asked for.
  const planted = join(workspace.folder, '.quartermaster');
  await cp(state, planted, { recursive: true });
  const origin = { version: 1, inode: String((await stat(planted)).ino), born: null };
  await writeFile(join(planted, 'origin.json'), JSON.stringify(origin), { mode: 0o600 });
  return { workspace, agentToken, adminToken };
}

/** Through git, as a victim gets it. */
async function cloneOf({ folder }: ServedWorkspace): Promise<ServedWorkspace> {
  const victim = await servedWorkspace({});
  const git = (cwd: string, ...args: string[]) =>
    run('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', ...args], {
      cwd,
    });
  await git(folder, 'init', '--quiet');
  await git(folder, 'add', '--force', '--all');
  await git(folder, 'commit', '--quiet', '--message', 'all of it');
  await run('git', ['clone', '--quiet', folder, join(victim.folder, 'clone')]);
  await cp(join(victim.folder, 'clone'), victim.folder, { recursive: true });
  // Git keeps no narrow modes; an archive would, and an attacker does not leave that to chance.
  await run('chmod', ['-R', 'go-rwx', join(victim.folder, '.quartermaster')]);
  return victim;
}
