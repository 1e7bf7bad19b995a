import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import {
  type CallLine,
  followCalls,
  hasUnsettledCalls,
  type Ledger,
  ledgerConnection,
  ledgerSubject,
  type OpenCall,
  openLedger,
  readCalls,
  readOpenCalls,
} from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';

let workspace: string;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-read-'));
});

afterEach(() => rm(workspace, { recursive: true }));

test('calls of all runs are merged by start, newest last; torn and foreign lines are passed over', async () => {
  add('one', 1, 4, 5);
  add('two', 2, 3, 6);
  appendFileSync(path('one'), '{"ts":"2024-01-15T10:30:00Z","server":"old","tool":"x"}\nnot json\n{"ts":"torn');
  writeFileSync(join(workspace, '.runs/agents/README'), 'not a run');
  expect(numbers(await readCalls(placesIn(workspace)))).toEqual([1, 2, 3, 4, 5, 6]);
  expect(numbers(await readCalls(placesIn(workspace), { run: 'two' }))).toEqual([2, 3, 6]);
  expect(numbers(await readCalls(placesIn(workspace), { run: 'none' }))).toEqual([]);
  expect(numbers(await readCalls(placesIn(workspace), { run: 'two', limit: 2 }))).toEqual([3, 6]);
  expect(numbers(await readCalls(placesIn(workspace), { limit: 4 }))).toEqual([3, 4, 5, 6]);
  expect(numbers(await readCalls(placesIn(workspace), { limit: 0 }))).toEqual([]);
  await expect(readCalls(placesIn(workspace), { run: '../one' })).rejects.toMatchObject({ code: 'USAGE' });
});

test('a workspace without a ledger has no calls', async () => {
  expect(await readCalls(placesIn(workspace))).toEqual([]);
  expect(await readOpenCalls(placesIn(workspace))).toEqual([]);
});

test('a run file that cannot be read hides no other run, and is told when it was asked for', async () => {
  add('one', 1, 2);
  mkdirSync(path('two'), { recursive: true });
  expect(numbers(await readCalls(placesIn(workspace)))).toEqual([1, 2]);
  await expect(readCalls(placesIn(workspace), { run: 'two' })).rejects.toMatchObject({
    code: 'LEDGER_UNAVAILABLE',
    message: expect.stringContaining('two/mcp_calls.jsonl cannot be read (EISDIR)'),
  });
});

test('only calls that are wanted are read, the last ones of them', async () => {
  add('one', 1, 4, 5);
  add('two', 2, 3, 6);
  const even = (call: CallLine): boolean => (numbers([call])[0] ?? 0) % 2 === 0;
  expect(numbers(await readCalls(placesIn(workspace), { where: even }))).toEqual([2, 4, 6]);
  expect(numbers(await readCalls(placesIn(workspace), { where: even, limit: 2 }))).toEqual([4, 6]);
  expect(numbers(await readCalls(placesIn(workspace), { since: 1_700_000_000_004 }))).toEqual([4, 5, 6]);
  // Nothing that came in later than a file's last change is in it.
  utimesSync(path('two'), 1_600_000_000, 1_600_000_000);
  expect(numbers(await readCalls(placesIn(workspace), { since: 1_700_000_000_004 }))).toEqual([4, 5]);
});

test('the last lines of a long file are found from its end', async () => {
  add('one', ...Array.from({ length: 2000 }, (_, number) => number));
  expect(numbers(await readCalls(placesIn(workspace), { limit: 3 }))).toEqual([1997, 1998, 1999]);
  expect(numbers(await readCalls(placesIn(workspace), { limit: 1500 }))).toHaveLength(1500);
  expect(numbers(await readCalls(placesIn(workspace)))).toHaveLength(2000);
});

test('calls in flight are read from the living journal, also past a rotation', async () => {
  const same = (text: string): string => text;
  const ledger = await openLedger(
    {
      clock: createSystemClock(),
      logger: createSilentLogger(),
      random: systemRandom,
      redact: { json: same, message: same },
    },
    { ...placesIn(workspace), sync: 'os', rotateBytes: 500 },
  );
  const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
  const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });
  const calls = [1, 2, 3, 4].map((number) => ledger.open(subject, 'run', `{"number":${number}}`));
  for (const call of calls) await ledger.sent(call, connection);
  for (const call of calls.slice(0, 2)) ledger.done(call, { outcome: 'ok', durationMs: 1 });
  await ledger.flush();
  const open = await readOpenCalls(placesIn(workspace));
  expect(open).toMatchObject([
    { args: { number: 3 }, status: 'open', outcome: 'open', error: null, duration_ms: null, transport: 'stdio' },
    { args: { number: 4 }, status: 'open' },
  ]);
  expect(await hasUnsettledCalls(placesIn(workspace), createSystemClock())).toBe(false);
  await ledger.close();
  expect(await readOpenCalls(placesIn(workspace))).toEqual([]);
});

test('following tells of calls that end, also of hubs that start later, and ends with the signal', async () => {
  const first = await openHere();
  await call(first, 'old', 1, 2);
  const slow = await begin(first, 'old', 3);
  const seen: unknown[] = [];
  const stop = new AbortController();
  const onCall = ({ args }: CallLine): void => void seen.push((args as { number: number }).number); // as `begin` writes it
  const following = followCalls(placesIn(workspace), { last: 1 }, onCall, stop.signal);
  await vi.waitFor(() => expect(seen).toEqual([2]), { timeout: 60_000 });
  const second = await openHere();
  await call(second, 'new', 4);
  first.done(slow, { outcome: 'ok', durationMs: 1 });
  await first.close();
  await vi.waitFor(() => expect(seen.toSorted()).toEqual([2, 3, 4]), { timeout: 60_000 });
  await second.close();
  stop.abort();
  await following;
});

test('following one run tells of no other', async () => {
  const ledger = await openHere();
  await call(ledger, 'two', 1);
  const seen: string[] = [];
  const stop = new AbortController();
  const options = { run: 'two', last: 5 };
  const following = followCalls(placesIn(workspace), options, ({ run_id }) => seen.push(run_id), stop.signal);
  await vi.waitFor(() => expect(seen).toEqual(['two']), { timeout: 60_000 });
  await call(ledger, 'one', 2);
  await call(ledger, 'two', 3);
  await vi.waitFor(() => expect(seen).toEqual(['two', 'two']), { timeout: 60_000 });
  await ledger.close();
  stop.abort();
  await following;
});

test('an agent that changes or forges run files changes nothing in what is read', async () => {
  const ledger = await openHere();
  await call(ledger, 'run', 1, 2);
  await ledger.flush();
  writeFileSync(path('run'), line('run', 99));
  add('forged', 98);
  expect((await readCalls(placesIn(workspace))).map(({ args }) => args)).toEqual([{ number: 1 }, { number: 2 }]);
  await ledger.close();
  expect(await readCalls(placesIn(workspace), { run: 'forged' })).toEqual([]);
});

test('the newest calls are read without the segments before them', async () => {
  const ledger = await openHere(2000);
  const early = await begin(ledger, 'run', 0);
  for (let number = 1; number <= 60; number++) await call(ledger, 'run', number);
  ledger.done(early, { outcome: 'ok', durationMs: 1 });
  await ledger.close();
  const wanted = (await readCalls(placesIn(workspace), { limit: 5 })).map(({ args }) => args);
  expect(wanted).toEqual([56, 57, 58, 59, 60].map((number) => ({ number })));
  expect(await readCalls(placesIn(workspace))).toHaveLength(61);
});

async function openHere(rotateBytes = 8_000_000): Promise<Ledger> {
  const same = (text: string): string => text;
  const redact = { json: same, message: same };
  const deps = { clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom, redact };
  return await openLedger(deps, { ...placesIn(workspace), sync: 'os', rotateBytes });
}

async function begin(ledger: Ledger, run: string, number: number): Promise<OpenCall> {
  const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
  const opened = ledger.open(subject, run, `{"number":${number}}`);
  await ledger.sent(opened, ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null }));
  return opened;
}

async function call(ledger: Ledger, run: string, ...numbers: number[]): Promise<void> {
  for (const number of numbers) ledger.done(await begin(ledger, run, number), { outcome: 'ok', durationMs: 1 });
  await ledger.flush();
}

function path(run: string): string {
  return join(workspace, '.runs/agents', run, 'mcp_calls.jsonl');
}

function add(run: string, ...calls: number[]): void {
  mkdirSync(dirname(path(run)), { recursive: true });
  appendFileSync(path(run), calls.map((number) => line(run, number)).join(''));
}

function line(run: string, number: number): string {
  const call: CallLine = {
    ts: new Date(1_700_000_000_000 + number).toISOString(),
    server: 's',
    tool: 't',
    args: { number, text: 'größer' },
    status: 'ok',
    outcome: 'ok',
    duration_ms: 1,
    error: null,
    agent: 'a',
    call_id: `boot-${number}`,
    run_id: run,
    transport: null,
    protocol_version: null,
    session_id: null,
    http_status: null,
    retries: null,
    decision: 'allow',
  };
  return `${JSON.stringify(call)}\n`;
}

function numbers(calls: readonly CallLine[]): number[] {
  return calls.map((call) => Number(call.call_id.slice('boot-'.length)));
}
