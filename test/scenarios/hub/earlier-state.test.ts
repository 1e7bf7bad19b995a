import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stdioServer } from '../../support/hub.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, runQm, serveQm } from '../qm.fixture.ts';

const secret = 'x'.repeat(43);
const token = `qm_0123456789_${secret}`;

/** State as an earlier version left it in the workspace. */
async function earlierWorkspace(): Promise<string> {
  const workspace = await makeWorkspace({ servers: { echo: stdioServer('echo-stdio.mjs') } });
  const folder = join(workspace, '.quartermaster');
  for (const name of ['journal', 'lock']) await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
  const { ino, birthtimeNs } = await stat(folder, { bigint: true });
  const origin = { version: 1, inode: String(ino), born: birthtimeNs === 0n ? null : String(birthtimeNs) };
  const hash = createHash('sha256').update(token).digest('hex');
  const stored = { id: '0123456789', agent: 'tester', hash, created: 1, expires: Date.now() + 3_600_000 };
  const files = {
    '.gitignore': '*\n',
    'origin.json': JSON.stringify(origin),
    'tokens.json': JSON.stringify({ version: 1, tokens: [stored] }),
    'admin-token': `qma_${secret}\n`,
    'state-key': `${secret}\n`,
    'names.json': '{}',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  return workspace;
}

const call = (workspace: string) =>
  runQm(['call', 'echo.add', 'a=1', 'b=2', '--agent', 'tester', '--workspace', workspace]);

test(verifies('state:earlier-version', 'is moved out, with a file that stops an earlier version'), async () => {
  const workspace = await earlierWorkspace();
  expect(await call(workspace)).toMatchObject({ code: 0, stdout: '3\n' });
  expect((await stat(join(workspace, '.quartermaster'))).isFile()).toBe(true);
  expect(await readFile(join(workspace, '.quartermaster'), 'utf8')).toContain('qm state path');
  const { folder } = layoutOf(workspace);
  expect(await readFile(join(folder, 'state-key'), 'utf8')).not.toContain(secret);
  expect(await call(workspace)).toMatchObject({ code: 0 });
}, 60_000);

test(verifies('state:earlier-version', 'tokens count only after the operator confirms them'), async () => {
  const workspace = await earlierWorkspace();
  const hub = await serveQm(workspace);
  expect(hub.stderr()).toContain('state.moved');
  const ask = async (key: string, path = '/mcp'): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const order = path === '/mcp' ? { method: 'POST', body: '{}' } : {};
    return (await fetch(hub.url + path, { ...order, headers })).status;
  };
  expect(await ask(token)).toBe(401);
  expect(await ask(`qma_${secret}`, '/api/health')).toBe(401);
  const silent = await runQm(['state', 'migrate', '--workspace', workspace]);
  expect(silent).toMatchObject({ code: 2, stdout: '' });
  expect(silent.stderr).toContain('Add --yes to agree.');
  expect(silent.stderr).toMatch(/^ {2}[0-9a-z]{10} {2}tester {2}issued \d{4}-\d\d-\d\d, expires \d{4}-\d\d-\d\d$/m);
  expect(await ask(token)).toBe(401);
  const agreed = await runQm(['state', 'migrate', '--yes', '--json', '--workspace', workspace]);
  expect(JSON.parse(agreed.stdout)).toEqual({ tokens: 1 });
  await expect.poll(() => ask(token), { timeout: 20_000 }).not.toBe(401);
  const again = await runQm(['state', 'migrate', '--yes', '--json', '--workspace', workspace]);
  expect(JSON.parse(again.stdout)).toEqual({ tokens: 0 });
  hub.signal('SIGTERM');
  expect((await hub.ended()).code).toBe(0);
}, 90_000);

test(verifies('state:earlier-version', "files that are not the hub's stay where they are"), async () => {
  const workspace = await earlierWorkspace();
  await writeFile(join(workspace, '.quartermaster', 'memory.jsonl'), 'facts');
  expect(await call(workspace)).toMatchObject({ code: 0 });
  expect((await readdir(join(workspace, '.quartermaster'))).sort()).toEqual(['journal', 'memory.jsonl']);
  expect((await stat(join(workspace, '.quartermaster', 'journal'))).isFile()).toBe(true);
  const { stderr } = await call(workspace);
  expect(stderr).toBe('');
}, 60_000);

test(verifies('state:earlier-version', 'stays as it is while a hub of that version runs'), async () => {
  const workspace = await earlierWorkspace();
  const lock = { pid: process.pid, startTime: '', host: hostname(), nonce: '0'.repeat(16) };
  await writeFile(join(workspace, '.quartermaster', 'lock', 'hub'), JSON.stringify(lock), { mode: 0o600 });
  const before = (await readdir(join(workspace, '.quartermaster'))).sort();
  const { code, stderr } = await call(workspace);
  expect(stderr).toContain(`process ${process.pid}`);
  expect(code).toBe(1);
  expect((await readdir(join(workspace, '.quartermaster'))).sort()).toEqual(before);
}, 60_000);
