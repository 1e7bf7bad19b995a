import { mkdirSync, readdirSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually } from '../../../test/support/within.ts';
import { createSilentLogger, systemRandom } from '../../base/index.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { type Ledger, ledgerConnection, ledgerSubject, openLedger, readCalls, verifyLedger } from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';

const day = 86_400_000;
let workspace: string;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-retention-'));
});

afterEach(() => rm(workspace, { recursive: true }));

test(
  verifies('ledger:retention', 'sealed files are removed by age, and verify calls them expired, not missing'),
  async () => {
    const clock = createManualClock();
    await life(40);
    const old = files();
    for (const file of old) utimesSync(file, new Date(clock.now() - 8 * day), new Date(clock.now() - 8 * day));
    const ledger = await open(clock);
    const held = ledger.open(subject, 'run', '{}');
    await ledger.held(held);
    await swept(clock, () => !files().some((file) => old.includes(file)));
    await call(ledger, 2);
    const report = await verifyLedger({ clock }, placesIn(workspace));
    expect(report.findings.filter(({ kind }) => kind !== 'run-file').map(({ kind }) => kind)).toEqual(['expired']);
    ledger.refused(held, { outcome: 'denied', durationMs: 1 });
    await ledger.close();
    expect(await readCalls(placesIn(workspace))).toHaveLength(3);
  },
);

test(
  verifies('ledger:retention', 'the oldest files are removed when all are too large; a held call keeps its file'),
  async () => {
    const clock = createManualClock();
    const ledger = await open(clock, { days: 365, megabytes: 0.01 });
    const held = ledger.open(subject, 'held', '{}');
    await ledger.held(held);
    await call(ledger, 60);
    const before = files().length;
    await swept(clock, () => files().length < before / 2);
    expect(files().some((file) => file.endsWith('.jsonl'))).toBe(true);
    ledger.refused(held, { outcome: 'denied', durationMs: 1 });
    await ledger.flush();
    expect((await readCalls(placesIn(workspace), { run: 'held' })).map(({ outcome }) => outcome)).toEqual(['denied']);
    expect((await verifyLedger({ clock }, placesIn(workspace))).findings.map(({ kind }) => kind)).not.toContain(
      'missing',
    );
    await ledger.close();
  },
);

test(
  verifies('ledger:retention', 'run files are rotated and removed with their folders, and links are left alone'),
  async () => {
    const clock = createManualClock();
    const runs = join(workspace, '.runs/agents');
    mkdirSync(join(runs, 'large'), { recursive: true, mode: 0o700 });
    mkdirSync(join(runs, 'old'), { mode: 0o700 });
    mkdirSync(join(workspace, 'elsewhere'));
    writeFileSync(join(workspace, 'elsewhere/mcp_calls.jsonl'), '', { mode: 0o600 });
    symlinkSync(join(workspace, 'elsewhere'), join(runs, 'link'));
    for (const run of ['large', 'old']) writeFileSync(join(runs, run, 'mcp_calls.jsonl'), '', { mode: 0o600 });
    truncateSync(join(runs, 'large/mcp_calls.jsonl'), 40 * 1024 * 1024);
    const past = new Date(clock.now() - 9 * day);
    for (const file of [join(runs, 'old/mcp_calls.jsonl'), join(workspace, 'elsewhere/mcp_calls.jsonl')])
      utimesSync(file, past, past);
    const ledger = await open(clock);
    await swept(clock, () => !readdirSync(runs).includes('old'));
    expect(readdirSync(join(runs, 'large'))).toEqual([expect.stringMatching(/^mcp_calls\.\d{8}T\d{6}Z\.jsonl$/)]);
    expect(statSync(join(workspace, 'elsewhere/mcp_calls.jsonl')).isFile()).toBe(true);
    await ledger.close();
  },
);

const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });

async function open(clock: ReturnType<typeof createManualClock>, keep = { days: 7, megabytes: 1024 }): Promise<Ledger> {
  const same = (text: string): string => text;
  const deps = { clock, logger: createSilentLogger(), random: systemRandom, redact: { json: same, message: same } };
  const retention = { keep, runs: { days: 7, megabytes: 1024 } };
  return await openLedger(deps, { ...placesIn(workspace), sync: 'os', rotateBytes: 3000, retention });
}

async function swept(clock: ReturnType<typeof createManualClock>, isDone: () => boolean): Promise<void> {
  await eventually(() => {
    clock.advance(3_600_000);
    return isDone() ? true : undefined;
  }, 'retention');
}

async function call(ledger: Ledger, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const opened = ledger.open(subject, 'run', `{"number":${number}}`);
    await ledger.sent(opened, connection);
    ledger.done(opened, { outcome: 'ok', durationMs: 1 });
  }
  await ledger.flush();
}

async function life(calls: number): Promise<void> {
  const ledger = await open(createManualClock());
  await call(ledger, calls);
  await ledger.close();
}

function files(): string[] {
  const folder = join(workspace, 'state/journal');
  return readdirSync(folder).map((name) => join(folder, name));
}
