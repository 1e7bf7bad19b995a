import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import {
  type Ledger,
  ledgerConnection,
  ledgerSubject,
  openLedger,
  readCalls,
  readLedgerHead,
  verifyLedger,
} from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';
import type { LedgerReport, VerifyOptions } from './verify-ledger.ts';

const clock = createSystemClock();
let workspace: string;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-verify-'));
});

afterEach(() => rm(workspace, { recursive: true }));

test(
  verifies('ledger:chain', 'one chain leads through all files and lives, also through lives at the same time'),
  async () => {
    await life(30);
    await life(3);
    const [one, two] = [await open(), await open()];
    await call(one, 1);
    await call(two, 2);
    await one.close();
    await two.close();
    await life(1);
    const report = await check();
    expect(report).toMatchObject({ ok: true, problems: 0, findings: [] });
    expect(report.segments).toBeGreaterThan(6);
    const running = await open();
    await call(running, 1);
    expect(await check()).toMatchObject({ ok: true, findings: [] });
    await running.close();
  },
);

test(verifies('ledger:chain', 'a changed byte is found, wherever it is'), async () => {
  await life(4);
  const [file = ''] = files();
  const good = readFileSync(file);
  for (let at = 0; at < good.length; at += 7) {
    const bad = Buffer.from(good);
    bad[at] = (bad[at] ?? 0) ^ 1;
    writeFileSync(file, bad);
    expect((await check()).ok, `byte ${at}`).toBe(false);
  }
});

test(verifies('ledger:chain', 'a file that is missing or cut is found by the one after it'), async () => {
  await life(40);
  await life(1);
  const [second = '', third = ''] = files().filter((file) => /\.[23]\.jsonl/.test(file));
  const text = readFileSync(third, 'utf8');
  truncateSync(third, text.lastIndexOf('\n', text.length - 200) + 1);
  rmSync(second);
  const kinds = (await check()).findings.map(({ kind }) => kind);
  expect(kinds).toContain('missing');
  expect(kinds.some((kind) => kind === 'other-end' || kind === 'changed')).toBe(true);
});

test(
  verifies('ledger:head', 'a chain that was computed anew does not contain the head that somebody kept'),
  async () => {
    await life(3);
    const head = await readLedgerHead({ clock }, placesIn(workspace));
    if (head === undefined) throw new Error('a ledger with records has a head');
    await life(3);
    expect(await check({ head })).toMatchObject({ ok: true, findings: [] });
    await rm(join(workspace, 'state'), { recursive: true });
    await rm(join(workspace, '.runs'), { recursive: true });
    await life(9);
    expect(await check()).toMatchObject({ ok: true });
    expect(await check({ head })).toMatchObject({ ok: false, findings: [{ kind: 'head-missing', seq: head.seq }] });
  },
);

test(
  verifies('ledger:copies', 'run files that differ from the journal are reported with the number of calls'),
  async () => {
    await life(5);
    const path = join(workspace, '.runs/agents/run/mcp_calls.jsonl');
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const forged = (lines[0] ?? '').replace(/"call_id":"[^"]+"/, '"call_id":"forged-1"');
    writeFileSync(path, `${[...lines.slice(2), forged].join('\n')}\n`);
    expect((await check()).findings).toEqual([{ kind: 'run-file', run: 'run', lacks: 2, adds: 1 }]);
  },
);

test(
  verifies('ledger:torn', 'a journal cut at any byte of its last writes is recovered, sealed and verified'),
  async () => {
    const ledger = await open(8_000_000);
    await call(ledger, 3);
    const opened = ledger.open(subject, 'run', '{"last":true}');
    await ledger.sent(opened, connection);
    const [file = ''] = files();
    const whole = readFileSync(file);
    ledger.done(opened, { outcome: 'ok', durationMs: 1 });
    await ledger.close();
    for (let end = whole.length; end > whole.length - 1000; end--) {
      await rm(join(workspace, '.runs'), { recursive: true, force: true });
      for (const each of files()) rmSync(each);
      // As a process leaves it that died: nobody owns it, and nothing tells where it was cut.
      writeFileSync(`${file}.left`, whole.subarray(0, end));
      await life(1);
      const report = await check();
      expect(report.ok).toBe(true);
      const isTorn = !/"hash":"[0-9a-f]{64}"\}\n$/.test(whole.toString('latin1', 0, end));
      expect(report.findings.map(({ kind }) => kind)).toEqual(isTorn ? ['sealed'] : []);
      const sent = whole.toString('latin1', 0, end).match(/"k":"sent".*\n/g)?.length ?? 0;
      const done = whole.toString('latin1', 0, end).match(/"k":"done".*\n/g)?.length ?? 0;
      const outcomes = (await readCalls(placesIn(workspace))).map(({ outcome }) => outcome);
      const interrupted = Array.from({ length: sent - done }, () => 'interrupted');
      expect(outcomes).toEqual([...Array.from({ length: done }, () => 'ok'), ...interrupted, 'ok']);
    }
  },
);

const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });

async function open(rotateBytes = 3000): Promise<Ledger> {
  const same = (text: string): string => text;
  const deps = { clock, logger: createSilentLogger(), random: systemRandom, redact: { json: same, message: same } };
  return await openLedger(deps, { ...placesIn(workspace), sync: 'os', rotateBytes });
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
  const ledger = await open();
  await call(ledger, calls);
  await ledger.close();
}

function check(options?: VerifyOptions): Promise<LedgerReport> {
  return verifyLedger({ clock }, placesIn(workspace), options);
}

/** The segments, oldest first. */
function files(): string[] {
  const folder = join(workspace, 'state/journal');
  const number = (name: string): number => Number(/\.(\d+)\.jsonl/.exec(name)?.[1] ?? 1);
  const names = readdirSync(folder).sort((a, b) => number(a) - number(b));
  return names.map((name) => join(folder, name));
}
