import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createSystemClock } from '../../../src/base/index.ts';
import { readCalls, verifyLedger } from '../../../src/ledger/index.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { openSession, type ServedWorkspace, servedWorkspace } from '../../support/served-hub.ts';
import { layoutOf, ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

const run = promisify(execFile);
const qm = join(import.meta.dirname, '..', '..', '..', 'bin', 'qm');

/** What a person may do to the folder of a running hub; `git clean -fdx` is the first. */
const losses: readonly [string, (folder: string) => Promise<void>][] = [
  ['deleted', (folder) => rm(layoutOf(folder).folder, { recursive: true })],
  ['renamed', (folder) => rename(layoutOf(folder).folder, join(folder, 'moved'))],
  ['left without its journal', (folder) => rm(join(layoutOf(folder).folder, 'journal'), { recursive: true })],
];

test.each(losses)(
  verifies(
    'journal:gone',
    'a state folder that is %s under a running hub: nothing runs unrecorded, and all comes back',
  ),
  async (_what, lose) => {
    const { workspace, seen } = await echoWorkspace();
    const { token } = (await workspace.qm('token', 'issue', '--agent', 'tester', '--run', 'lost')) as { token: string };
    const hub = await workspace.serve();
    const client = await openSession(hub.url, token);
    const call = (message: string) => client.call('echo', { message });
    // The server is new to this hub: at first nobody knows its tools.
    await eventually(async () => (await call('before'))?.result, 'the first call to be answered');
    const adminToken = await readFile(join(layoutOf(workspace.folder).folder, 'admin-token'), 'utf8');

    await lose(workspace.folder);
    // The hub looks at most every two milliseconds; what it writes before that comes back with the journal.
    await sleep(20);
    const refused = await call('refused');
    expect(refused?.error).toMatchObject({ data: { code: 'LEDGER_UNAVAILABLE', retryable: true } });

    const back = await eventually(async () => {
      const answer = await call('after');
      return answer?.result === undefined ? undefined : answer;
    }, 'the hub to recover');
    expect(back.result?.content?.[0]?.text).toBe('after');
    expect(hub.log()).toContain('ledger.journal-gone');
    expect(hub.log()).toContain('ledger.journal-restored');
    // The operator finds the hub as before, and so does every agent.
    expect(await readFile(join(layoutOf(workspace.folder).folder, 'admin-token'), 'utf8')).toBe(adminToken);
    expect(await workspace.qm('ls')).toMatchObject({ hub: new URL(hub.url).origin, problems: [] });
    expect(await workspace.qm('token', 'ls')).toMatchObject([{ agent: 'tester', state: 'valid' }]);
    for (const name of ['.', 'journal', 'lock']) {
      expect((await stat(join(layoutOf(workspace.folder).folder, name))).mode & 0o777).toBe(0o700);
    }
    await client.close();
    expect(await hub.kill('SIGTERM')).toBe(0);
    const lines = await readCalls(ledgerOf(workspace.folder), { run: 'lost' });
    const texts = lines
      .filter((line) => line.outcome === 'ok')
      .map((line) => (line.args as { message: string }).message);
    expect(texts).toEqual(['before', ...texts.slice(1).fill('after')]);
    // What the server saw is what the ledger has.
    expect((await readFile(seen, 'utf8')).trimEnd().split('\n')).toHaveLength(texts.length);
    const left = await readdir(join(layoutOf(workspace.folder).folder, 'journal'));
    expect(left.filter((file) => !file.endsWith('.sealed'))).toEqual([]);
    // The file with the issued token was complete before this hub began. Nobody has it open, so it stays lost.
    const { findings } = await verifyLedger({ clock: createSystemClock() }, ledgerOf(workspace.folder));
    expect(findings).toEqual([expect.objectContaining({ kind: 'missing', seq: 2 })]);
  },
  60_000,
);

test(verifies(
  'journal:gone',
  'while the folder cannot come back, /readyz and qm ls say so and calls stay refused',
), async () => {
  const { workspace } = await echoWorkspace();
  const { token } = (await workspace.qm('token', 'issue', '--agent', 'tester')) as { token: string };
  const hub = await workspace.serve();
  const client = await openSession(hub.url, token);
  const ready = new URL('/readyz', hub.url);
  expect((await fetch(ready)).status).toBe(200);
  await eventually(async () => (await client.call('echo', { message: 'x' }))?.result, 'the first call');
  const journal = join(layoutOf(workspace.folder).folder, 'journal');
  await rm(journal, { recursive: true });
  await writeFile(journal, 'in the way');

  // Nobody calls: it is noticed all the same.
  await eventually(async () => ((await fetch(ready)).status === 503 ? true : undefined), 'the hub to notice');
  expect(await (await fetch(ready)).text()).toBe('calls are refused: they cannot be recorded\n');
  expect((await fetch(new URL('/healthz', hub.url))).status).toBe(200);
  expect((await client.call('echo', { message: 'x' }))?.error?.data?.code).toBe('LEDGER_UNAVAILABLE');
  // The first word on it is that the journal is gone; that it cannot come back shows with the first attempt.
  const problem = await eventually(async () => {
    const args = [qm, 'ls', '--json', '--workspace', workspace.folder];
    const told = await run(process.execPath, args).catch((error) => error);
    expect(told.code).toBe(3);
    const [first] = (JSON.parse(told.stdout) as { problems: { file: string; message: string }[] }).problems;
    return first?.message.includes('is not a folder') ? first : undefined;
  }, 'the reason');
  expect(problem.file).toBe(journal);

  await rm(journal);
  await eventually(async () => ((await fetch(ready)).status === 200 ? true : undefined), 'the hub to recover');
  expect((await client.call('echo', { message: 'x' }))?.result).toBeDefined();
  await client.close();
  await hub.kill('SIGTERM');
}, 180_000);

test(verifies('state:one-hub', 'whatever is deleted of the state, no second hub starts beside the first'), async () => {
  const { workspace } = await echoWorkspace();
  const hub = await workspace.serve();
  const { folder, locks } = layoutOf(workspace.folder);
  for (const place of [locks, folder]) {
    await rm(place, { recursive: true });
    // At once: before the first one can have noticed.
    await expect(workspace.serve()).rejects.toThrow(new RegExp(`already serves .* \\(process ${hub.pid}\\)`));
  }
  await rm(layoutOf(workspace.folder).folder, { recursive: true, force: true });
  await mkdir(layoutOf(workspace.folder).folder, { mode: 0o700 });
  await expect(workspace.serve()).rejects.toThrow('already serves');
  expect(await hub.kill('SIGKILL')).toBe(null);
  await (await workspace.serve()).kill('SIGTERM');
}, 180_000);

test('a token file that is deleted alone still revokes every token', async () => {
  const { workspace } = await echoWorkspace();
  const { token } = (await workspace.qm('token', 'issue', '--agent', 'tester')) as { token: string };
  const hub = await workspace.serve();
  await rm(join(layoutOf(workspace.folder).folder, 'tokens.json'));
  await eventually(async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const { status } = await fetch(hub.url, { method: 'POST', headers, body: '{}' });
    return status === 401 ? true : undefined;
  }, 'the token to be refused');
  await hub.kill('SIGTERM');
}, 180_000);

async function echoWorkspace(): Promise<{ readonly workspace: ServedWorkspace; readonly seen: string }> {
  const workspace = await servedWorkspace({
    servers: {
      echo: {
        command: process.execPath,
        args: [fixturePath('echo-stdio.mjs')],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
        env: { CALL_LOG: '${WORKSPACE_ROOT}/seen.jsonl' },
      },
    },
  });
  return { workspace, seen: join(workspace.folder, 'seen.jsonl') };
}
