import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import {
  type CallStatistics,
  type Ledger,
  ledgerConnection,
  ledgerSubject,
  openLedger,
  summarizeCalls,
} from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';

const facts = { agent: 'a', chain: ['a'], server: 'files', tool: 'read_file', decision: 'allow' };
const read = ledgerSubject(facts);
const write = ledgerSubject({ ...facts, agent: 'b', tool: 'write_file', decision: 'deny', rule: 'files.write_*' });
const resource = ledgerSubject({ ...facts, tool: 'resource:file:///a', method: 'resources/read' });
const unknown = ledgerSubject({ ...facts, server: null, tool: 'nothing' });
const probe = ledgerSubject({ ...facts, agent: 'operator', chain: ['operator'], tool: 'doctor' });
const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });

test(verifies('ledger:summary', 'the journal and the run files give the same statistics'), async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-tally-'));
  onTestFinished(() => rm(workspace, { recursive: true }));
  for (let life = 0; life < 2; life++) {
    const ledger = await open(workspace);
    await makeCalls(ledger, `run${life}`);
    await ledger.close();
  }
  const seen: number[] = [];
  const onProgress = (done: number, total: number): void => void seen.push(done / total);
  const fromJournal = await summarizeCalls(placesIn(workspace), { onProgress });
  const elsewhere = { workspace, journal: { root: workspace, names: ['nothing'] } };
  const fromCopies = await summarizeCalls(elsewhere);
  expect(sorted(fromJournal)).toEqual(sorted(fromCopies));
  expect(fromJournal).toMatchObject({ total_calls: 18, probes: 2, runs: 2, cached_calls: 2, suspicious_calls: 8 });
  expect(seen.at(-1)).toBe(1);
  const one = { run: 'run1' };
  expect(sorted(await summarizeCalls(placesIn(workspace), one))).toEqual(sorted(await summarizeCalls(elsewhere, one)));
});

function sorted(statistics: CallStatistics): CallStatistics {
  const byId = statistics.suspicious_paths.toSorted((a, b) => (a.call_id < b.call_id ? -1 : 1));
  return { ...statistics, suspicious_paths: byId };
}

async function open(workspace: string): Promise<Ledger> {
  const same = (text: string, most = Infinity): string => text.slice(0, most);
  const redact = { json: same, message: same };
  const deps = { clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom, redact };
  // Small files, so that calls begin in one and end in another.
  return await openLedger(deps, { ...placesIn(workspace), sync: 'os', rotateBytes: 600 });
}

async function makeCalls(ledger: Ledger, run: string): Promise<void> {
  const long = ledger.open(read, run, '{"path":"/etc/passwd"}');
  await ledger.sent(long, connection);
  for (const args of ['{"path":"a/b.txt"}', '{"path":"../up"}', '{"at":["%2e%2e/x"]}', '{"text":"a\\nb"}']) {
    const call = ledger.open(read, run, args);
    await ledger.sent(call, connection);
    ledger.done(call, { outcome: 'ok', durationMs: 1.5 });
  }
  const failed = ledger.open(resource, run, '{"uri":"file:///a"}');
  await ledger.sent(failed, connection);
  await ledger.sent(failed, connection);
  ledger.done(failed, { outcome: 'timeout', durationMs: 30_000, error: 'It took too long, "again".' });
  const held = ledger.open(write, run, '{"path":"x"}');
  await ledger.held(held);
  ledger.refused(held, { outcome: 'denied', durationMs: 2, error: 'no' });
  ledger.refused(ledger.open(unknown, run, '{}'), { outcome: 'rate_limited', durationMs: 0.1, error: 'rate limit' });
  await ledger.cached(ledger.open(read, run, '{}'), { outcome: 'ok', durationMs: 0.2 });
  const probing = ledger.open(probe, run, '{"transports":["stdio"]}');
  await ledger.sent(probing, connection);
  ledger.done(probing, { outcome: 'ok', durationMs: 4 });
  ledger.done(long, { outcome: 'ok', durationMs: 9 });
  await ledger.flush();
}
