import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CallLine, readCalls } from '../../../src/ledger/index.ts';
import { isAlive, pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { fixturePath } from '../../support/fixture-servers.ts';
import { openSession, servedWorkspace } from '../../support/served-hub.ts';
import { ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

const times = 12;
const inFlight = 32;

test(verifies(
  'journal:kill-9',
  'kill -9 at 32 in flight, twelve times: whatever a server saw is on the ledger, once',
), async () => {
  const workspace = await servedWorkspace({
    servers: {
      echo: {
        command: process.execPath,
        args: [fixturePath('echo-stdio.mjs')],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
        env: { CALL_LOG: '${WORKSPACE_ROOT}/seen.jsonl' },
      },
      stubborn: { command: process.execPath, args: [fixturePath('bad.mjs'), 'ignores-term'] },
    },
  });
  const tokenFor = async (run: string): Promise<string> =>
    ((await workspace.qm('token', 'issue', '--agent', 'tester', '--run', run)) as { token: string }).token;
  const [token, other] = [await tokenFor('storm'), await tokenFor('before')];
  const answered = new Set<string>();
  for (let round = 0; round < times; round++) {
    const hub = await workspace.serve();
    const client = await openSession(hub.url, token);
    // Both servers run before the storm, so that there is something to leave behind. One that is known starts when called.
    const before = await openSession(hub.url, other);
    for (const tool of ['echo', 'stubborn_echo']) {
      const isGood = async () => (await before.call(tool, { message: 'up' }))?.error === undefined || undefined;
      await eventually(isGood, `${tool} to answer`);
    }
    await before.close();
    expect(pidsOfHub(hub.pid).length).toBeGreaterThanOrEqual(2);
    let storm = true;
    const workers = Array.from({ length: inFlight }, async (_, worker) => {
      for (let count = 0; storm; count++) {
        const message = `${round}-${worker}-${count}`;
        // Some calls are still open when the hub dies, most are not.
        const slow = worker % 8 === 0 && count > 0;
        const answer = await client.call(slow ? 'echo_slow' : 'echo', slow ? { ms: 400, message } : { message });
        if (answer === undefined) return;
        expect(answer.error).toBeUndefined();
        if (!slow) expect(answer.result?.content?.[0]?.text).toBe(message);
        answered.add(message);
      }
    });
    // Later each time, by calls and not by time: the slow ones are open then.
    const enough = answered.size + inFlight * 2 + 40 * round;
    await eventually(() => answered.size >= enough || undefined, `${enough} answers`);
    const pids = pidsOfHub(hub.pid).map(Number);
    await hub.kill('SIGKILL');
    storm = false;
    await Promise.all(workers);
    await client.close();
    await eventually(() => pids.every((pid) => !isAlive(pid)) || undefined, 'the children to be gone');
  }
  // The next start recovers what the last life left.
  await (await workspace.serve()).kill('SIGTERM');

  const lines = await readCalls(ledgerOf(workspace.folder), { run: 'storm', limit: 1_000_000 });
  const byMessage = new Map<unknown, CallLine>();
  for (const line of lines) {
    const { message } = line.args as { message: string };
    expect(byMessage.has(message), `${message} is on the ledger twice`).toBe(false);
    byMessage.set(message, line);
    expect(['ok', 'interrupted']).toContain(line.outcome);
  }
  const seen = (await readFile(join(workspace.folder, 'seen.jsonl'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { arguments: { message: string } });
  const missing = seen.filter(({ arguments: { message } }) => message !== 'up' && !byMessage.has(message));
  expect(missing).toEqual([]);
  expect(seen.length).toBeGreaterThan(times * inFlight);
  expect([...answered].filter((message) => !byMessage.has(message))).toEqual([]);
  // A call without an answer has no other end than this one.
  const open = lines.filter((line) => line.outcome === 'interrupted');
  expect(open.length).toBeGreaterThanOrEqual(times);
  for (const line of open)
    expect(line).toMatchObject({ status: 'error', error: expect.stringContaining('may have run') });
}, 180_000);
