import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSystemClock, type Logger, systemRandom } from '../../base/index.ts';
import { type Ledger, type LedgerFiles, ledgerConnection, ledgerSubject, openLedger, readCalls } from '../index.ts';
import { systemFiles } from '../journal/file-operations.ts';
import { placesIn } from '../ledger-places.fixture.ts';

const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });

let workspace: string;
let ledger: Ledger;
let events: string[];

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-follower-'));
  events = [];
});

afterEach(async () => {
  await ledger.close();
  await rm(workspace, { recursive: true });
});

test(
  verifies(
    'ledger:run-file',
    'a run that cannot be written follows later from the journal, each call once, other runs unharmed',
  ),
  async () => {
    await open({}, 4000);
    // A file stands where the run's folder should be.
    mkdirSync(join(workspace, '.runs/agents'), { recursive: true });
    writeFileSync(join(workspace, '.runs/agents/blocked'), '');
    const ids: string[] = [];
    for (let count = 0; count < 50; count++) {
      ids.push(await call('blocked', `{"n":12345678901234567890,"count":${count}}`));
      await call('free', '{}');
    }
    await expect(ledger.flush()).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
    expect(text('free').trimEnd().split('\n')).toHaveLength(50);
    expect(journals().length).toBeGreaterThan(3);
    expect(events.filter((event) => event === 'ledger.run-file-failed')).toHaveLength(1);

    rmSync(join(workspace, '.runs/agents/blocked'));
    ids.push(await call('blocked', '{}'));
    await vi.waitFor(() => expect(text('blocked').trimEnd().split('\n')).toHaveLength(51), { timeout: 60_000 });
    expect((await readCalls(placesIn(workspace), { run: 'blocked' })).map((line) => line.call_id)).toEqual(ids);
    expect(text('blocked')).toContain('"args":{"n":12345678901234567890,"count":7}');
    expect(journals()).toHaveLength(1);
    await ledger.close();
    expect(journals()).toEqual([]);
  },
);

test('a batch that was half written is completed, not repeated', async () => {
  let faults = 1;
  await open({
    append(fd, bytes) {
      if (faults-- <= 0) return systemFiles.append(fd, bytes);
      // One whole line and a piece of the next reach the disk.
      writeSync(fd, bytes.subarray(0, bytes.indexOf(10) + 20));
      throw new Error('ENOSPC');
    },
  });
  const ids = [await call('run', '{"a":1}'), await call('run', '{"call_id":"x","b":2}'), await call('run', '{"c":3}')];
  await ledger.flush();
  expect((await readCalls(placesIn(workspace))).map((line) => line.call_id)).toEqual(ids);
  expect(text('run').trimEnd().split('\n')).toHaveLength(3);
});

test('lines that come while a run is caught up are written after it, once', async () => {
  let broken = true;
  await open({
    append(fd, bytes) {
      if (broken) throw new Error('EACCES');
      systemFiles.append(fd, bytes);
    },
  });
  const ids: string[] = [];
  for (let count = 0; count < 400; count++) ids.push(await call('run', `{"fill":"${'x'.repeat(500)}"}`));
  await expect(ledger.flush()).rejects.toThrow('EACCES');
  broken = false;
  const flushed = ledger.flush();
  for (let count = 0; count < 400; count++) ids.push(await call('run', `{"fill":"${'y'.repeat(500)}"}`));
  await flushed;
  await ledger.flush();
  expect((await readCalls(placesIn(workspace))).map((line) => line.call_id).sort()).toEqual([...ids].sort());
});

test('a torn last line of an earlier life is cut before new lines', async () => {
  await open({});
  const path = join(workspace, '.runs/agents/run/mcp_calls.jsonl');
  mkdirSync(dirname(path), { recursive: true });
  const first = await call('run', '{}');
  await ledger.flush();
  appendFileSync(path, '{"ts":"2026-01-01T00:00:00.000Z","server":"s","to');
  const second = await call('run', '{}');
  await ledger.flush();
  expect((await readCalls(placesIn(workspace))).map((line) => line.call_id)).toEqual([first, second]);
  expect(text('run').trimEnd().split('\n')).toHaveLength(2);
});

test('runs that never come back leave the follower when the ledger closes, and are recovered at the next start', async () => {
  await open({
    append() {
      throw new Error('EACCES');
    },
  });
  const id = await call('run', '{}');
  await ledger.close();
  expect(events).toContain('ledger.run-files-delayed');
  expect(journals()).toHaveLength(1);
  await open({});
  expect((await readCalls(placesIn(workspace))).map((line) => [line.call_id, line.outcome])).toEqual([[id, 'ok']]);
});

async function open(files: Partial<LedgerFiles>, rotateBytes = 1_000_000): Promise<void> {
  const log = (event: string): void => void events.push(event);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const same = (value: string): string => value;
  ledger = await openLedger(
    { clock: createSystemClock(), logger, random: systemRandom, redact: { json: same, message: same }, files },
    { ...placesIn(workspace), sync: 'os', rotateBytes },
  );
}

async function call(run: string, args: string): Promise<string> {
  const opened = ledger.open(subject, run, args);
  await ledger.sent(opened, connection);
  ledger.done(opened, { outcome: 'ok', durationMs: 1 });
  return opened.id;
}

/** Files that are not sealed. */
function journals(): string[] {
  return readdirSync(join(workspace, 'state/journal')).filter((file) => !file.endsWith('.sealed'));
}

function text(run: string): string {
  return readFileSync(join(workspace, '.runs/agents', run, 'mcp_calls.jsonl'), 'utf8');
}
