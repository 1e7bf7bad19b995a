import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import { type Ledger, type LedgerFiles, ledgerConnection, ledgerSubject, openLedger, readCalls } from '../index.ts';
import { systemFiles } from '../journal/file-operations.ts';
import { placesIn } from '../ledger-places.fixture.ts';
import { cachedRecord } from './call-text.ts';
import { endParts } from './end-text.ts';

const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });
const redact = { json: (text: string) => text, message: (text: string) => text };
const end = { outcome: 'ok', durationMs: 2, cached: true } as const;

let workspace: string;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-cached-'));
  onTestFinished(() => rm(workspace, { recursive: true }));
});

test(verifies('cache:ledger', 'an answer that was kept is one line that says so, and was never sent'), async () => {
  const ledger = await open();
  const call = ledger.open(subject, 'run-1', '{"a":1}');
  await ledger.cached(call, end);
  await ledger.flush();
  expect(readFileSync(join(workspace, '.runs/agents/run-1/mcp_calls.jsonl'), 'utf8')).toBe(
    `{"ts":"${call.ts}","server":"s","tool":"t","args":{"a":1},"status":"ok","outcome":"ok","duration_ms":2,` +
      `"error":null,"agent":"a","call_id":"${call.id}","run_id":"run-1","transport":null,"protocol_version":null,` +
      '"session_id":null,"cached":true,"http_status":null,"retries":null,"decision":"allow","rule":null,"rule_source":null}\n',
  );
  expect(await readCalls(placesIn(workspace))).toMatchObject([{ call_id: call.id, cached: true }]);
  expect(journalText()).not.toContain('"k":"sent"');
});

test('calls of one turn share one write, whether they are sent or not; the record is there when they go on', async () => {
  let writes = 0;
  const ledger = await open({
    write(...args) {
      writes++;
      return systemFiles.write(...args);
    },
  });
  const before = writes;
  const calls = [1, 2, 3, 4].map((n) => ledger.open(subject, 'run-1', `{"n":${n}}`));
  await Promise.all(calls.map((call, n) => (n % 2 === 0 ? ledger.cached(call, end) : ledger.sent(call, connection))));
  expect(writes - before).toBe(1);
  for (const { id } of calls) expect(journalText()).toContain(`"id":"${id}"`);
  for (const call of calls.filter(({ stage }) => stage === 'sent')) ledger.done(call, { outcome: 'ok', durationMs: 1 });
});

test(
  verifies('cache:ledger', 'what cannot be recorded is not answered, and the call can still be refused'),
  async () => {
    let full = false;
    const ledger = await open({
      write(...args) {
        if (full) throw new Error('no room');
        return systemFiles.write(...args);
      },
    });
    full = true;
    const [first, second] = [ledger.open(subject, 'run-1', '{"n":1}'), ledger.open(subject, 'run-1', '{"n":2}')];
    await expect(ledger.cached(first, end)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
    await expect(ledger.cached(second, end)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
    for (const call of [first, second]) ledger.refused(call, { outcome: 'unavailable', durationMs: 1 });
    full = false;
    await ledger.flush();
    const lines = await readCalls(placesIn(workspace));
    expect(lines.map(({ call_id, outcome, cached }) => [call_id, outcome, cached])).toEqual([
      [first.id, 'unavailable', undefined],
      [second.id, 'unavailable', undefined],
    ]);
  },
);

test('a closed ledger takes none', async () => {
  const ledger = await open();
  const call = ledger.open(subject, 'run-1', '{}');
  await ledger.close();
  await expect(ledger.cached(call, end)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
});

test(verifies('journal:kill-9', 'a call that a dead hub answered from what it kept is on the ledger'), async () => {
  const folder = join(workspace, 'state/journal');
  mkdirSync(folder, { recursive: true });
  const parts = { id: 'aaa-1', ts: '2026-01-01T00:00:00.000Z', run: 'run-1', subject, args: '{"n":1.0}' };
  const header = '{"k":"header","version":1,"boot":"aaa","pid":4194400,"pid_start":5}\n';
  writeFileSync(join(folder, '20260101T000000Z-aaa.jsonl'), header + cachedRecord(parts, endParts(end, redact)));
  await open();
  expect(await readCalls(placesIn(workspace))).toMatchObject([
    { call_id: 'aaa-1', status: 'ok', cached: true, transport: null },
  ]);
});

async function open(files: Partial<LedgerFiles> = {}): Promise<Ledger> {
  const deps = { clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom, redact, files };
  const ledger = await openLedger(deps, { ...placesIn(workspace), sync: 'os' });
  onTestFinished(() => ledger.close());
  return ledger;
}

function journalText(): string {
  const folder = join(workspace, 'state/journal');
  return readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('');
}
