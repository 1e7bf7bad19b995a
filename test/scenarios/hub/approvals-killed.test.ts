import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCalls } from '../../../src/ledger/index.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { openSession, type ServedHub, type ServedWorkspace, servedWorkspace } from '../../support/served-hub.ts';
import { ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

/** Where the hub is killed, by what can be seen from outside. `sent`: how often the server may see the call. */
const moments = [
  { name: 'while the question is open', until: async () => {}, approves: false, states: ['open'], sent: [0] },
  {
    name: 'once the decision is answered',
    until: async () => {},
    approves: true,
    states: ['approved', 'void', 'unknown', 'spent'],
    sent: [0, 1],
  },
  { name: 'once the server has the call', until: hasCall, approves: true, states: ['unknown'], sent: [1] },
  { name: 'once the call is answered', until: hasAnswer, approves: true, states: ['spent'], sent: [1] },
] as const;

test.each(moments)(
  verifies('approvals:once', 'kill -9 $name: sent once or not at all, and the record says which'),
  async ({ until, approves, states, sent }) => {
    const scene = await openScene(until === hasAnswer ? 1 : 60_000);
    const { workspace, call } = scene;
    let hub = await workspace.serve();
    const { answer } = await call(hub);
    const { id } = await questionOf(workspace);
    if (approves) await workspace.qm('approvals', 'approve', id);
    await until(workspace, answer);
    await hub.kill('SIGKILL');
    await answer;

    hub = await workspace.serve();
    const [after] = (await all(workspace)).filter((each) => each.id === id);
    expect(states).toContain(after?.state);
    const seen = await seenCalls(workspace);
    expect(sent).toContain(seen.length);
    if (after?.state === 'approved' || after?.state === 'void' || after?.state === 'open') expect(seen).toEqual([]);
    if (after?.state === 'spent') expect(seen).toHaveLength(1);
    const lines = await readCalls(ledgerOf(workspace.folder));
    const recorded = lines.filter(({ approval }) => approval === id);
    expect(recorded).toHaveLength(Math.max(seen.length, recorded.length));
    for (const { outcome } of recorded) expect(outcome).toBe(after?.state === 'spent' ? 'ok' : 'interrupted');
    if (after?.state === 'unknown') {
      const closed = await workspace.qm('approvals', 'resolve', id, seen.length === 1 ? '--ran' : '--did-not-run');
      expect(closed).toMatchObject({ state: 'closed' });
    }
    // Whoever calls again asks again, unless the approval is still good for the one call.
    const again = await call(hub);
    if (after?.state === 'approved')
      await eventually(async () => (await seenCalls(workspace)).length === 1 || undefined, 'the call');
    else expect((await questionOf(workspace)).state).toBe('open');
    expect((await seenCalls(workspace)).length).toBeLessThanOrEqual(1);
    await hub.kill('SIGKILL');
    await again.answer;
  },
  180_000,
);

test(verifies('approvals:once', 'kill -9 again and again right after the decision: never sent twice'), async () => {
  const { workspace, call } = await openScene(60_000);
  for (let round = 0; round < 5; round++) {
    const before = (await seenCalls(workspace)).length;
    let hub = await workspace.serve();
    const { answer } = await call(hub, round);
    const { id } = await questionOf(workspace);
    const approved = workspace.qm('approvals', 'approve', id).catch(() => undefined);
    // The log grows with the decision and with the claim; each round looks at another moment.
    const log = join(
      ledgerOf(workspace.folder).journal.root,
      ...ledgerOf(workspace.folder).journal.names.slice(0, -1),
      'approvals.jsonl',
    );
    const size = (await readFile(log)).length;
    await eventually(async () => (await readFile(log)).length > size + round * 300 || undefined, 'the log to grow');
    await hub.kill('SIGKILL');
    await Promise.all([approved, answer]);
    hub = await workspace.serve();
    const [after] = (await all(workspace)).filter((each) => each.id === id);
    const sent = (await seenCalls(workspace)).length - before;
    expect(sent).toBeLessThanOrEqual(1);
    if (after?.state === 'void' || after?.state === 'approved' || after?.state === 'open') expect(sent).toBe(0);
    expect(['open', 'approved', 'void', 'unknown']).toContain(after?.state);
    await hub.kill('SIGKILL');
  }
}, 240_000);

interface Listed {
  readonly id: string;
  readonly state: string;
}

interface Scene {
  readonly workspace: ServedWorkspace;
  /** Begins the call. */
  call(hub: ServedHub, round?: number): Promise<{ readonly answer: Promise<unknown> }>;
}

async function openScene(ms: number): Promise<Scene> {
  const workspace = await servedWorkspace({
    servers: {
      echo: {
        command: process.execPath,
        args: [fixturePath('echo-stdio.mjs')],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
        env: { CALL_LOG: '${WORKSPACE_ROOT}/seen.jsonl' },
      },
    },
    policies: { tools: { 'echo.*': 'require-approval' } },
  });
  const { token } = (await workspace.qm('token', 'issue', '--agent', 'tester', '--run', 'r1')) as { token: string };
  return {
    workspace,
    async call({ url }, round = 0) {
      const client = await openSession(url, token);
      return { answer: client.call('echo_slow', { ms, message: `m${round}` }).catch(() => undefined) };
    },
  };
}

async function all(workspace: ServedWorkspace): Promise<readonly Listed[]> {
  return (await workspace.qm('approvals', 'ls', '--all')) as Listed[];
}

function questionOf(workspace: ServedWorkspace): Promise<Listed> {
  return eventually(async () => (await all(workspace)).find(({ state }) => state === 'open'), 'an open question');
}

async function seenCalls(workspace: ServedWorkspace): Promise<readonly string[]> {
  const text = await readFile(join(workspace.folder, 'seen.jsonl'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line.includes('slow'));
}

function hasCall(workspace: ServedWorkspace): Promise<unknown> {
  return eventually(async () => (await seenCalls(workspace)).length > 0 || undefined, 'the server to have the call');
}

async function hasAnswer(workspace: ServedWorkspace, answer: Promise<unknown>): Promise<void> {
  await answer;
  await eventually(
    async () => (await all(workspace)).some(({ state }) => state === 'spent') || undefined,
    'the approval to be spent',
  );
}
