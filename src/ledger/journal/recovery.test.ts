import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import {
  createSystemClock,
  ensureGuardedFolder,
  type Logger,
  type ProcessLife,
  systemRandom,
  thisProcess,
} from '../../base/index.ts';
import { type Ledger, ledgerConnection, ledgerSubject, openLedger, readCalls } from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';
import { type CallParts, doneRecord, refusedRecord, sentRecord } from '../records/call-text.ts';
import { ledgerChildSource } from './ledger-child.fixture.ts';
import { claimLife, journalLives } from './recovery.ts';

const subject = ledgerSubject({ agent: 'a', chain: ['a', 'b'], server: 's', tool: 't', decision: 'ask' });
const connection = ledgerConnection({ transport: 'http', protocolVersion: '2026-07-28', sessionId: 'x"y' });
const repository = join(import.meta.dirname, '../../..');

/** Node 20 does not run TypeScript, so the children run a build of this room. */
let built: string;
let workspace: string;
let opened: Ledger[];
let children: Child[];
let events: { event: string; fields: Readonly<Record<string, unknown>> | undefined }[];

beforeAll(async () => {
  built = await mkdtemp(join(tmpdir(), 'qm-built-'));
  const config = {
    extends: join(repository, 'tsconfig.json'),
    compilerOptions: { rootDir: join(repository, 'src'), outDir: built, noEmit: false, declaration: false },
    include: [join(repository, 'src/ledger/index.ts')],
    exclude: [],
  };
  writeFileSync(join(built, 'package.json'), '{"type":"module"}');
  writeFileSync(join(built, 'tsconfig.json'), JSON.stringify(config));
  symlinkSync(join(repository, 'node_modules'), join(built, 'node_modules'));
  execFileSync(join(repository, 'node_modules/.bin/tsc'), ['-p', join(built, 'tsconfig.json')]);
  writeFileSync(join(built, 'child.js'), ledgerChildSource());
});

afterAll(() => rm(built, { recursive: true }));

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-recovery-'));
  opened = [];
  children = [];
  events = [];
});

afterEach(async () => {
  for (const { process: child } of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  for (const ledger of opened) await ledger.close();
  await rm(workspace, { recursive: true });
});

test(
  verifies('ledger:held', 'kill -9 while calls are held: those that were never sent did not run, and read void'),
  async () => {
    const acknowledged = (await killAfter(spawnChild('hold'), 40)).map((line) => line.split(' '));
    await open();
    const calls = new Map((await readCalls(placesIn(workspace))).map((call) => [call.call_id, call]));
    const last = new Map(acknowledged.map(([word, id = '']) => [id, word]));
    // The newest calls may have got further than they had time to say.
    const settled = [...last].slice(0, -1);
    expect(settled.length).toBeGreaterThan(100);
    const outcomes = { held: 'void', sent: 'interrupted', refused: 'denied' };
    expect(settled.map(([id]) => calls.get(id)?.outcome)).toEqual(
      settled.map(([, word]) => outcomes[word as keyof typeof outcomes]), // the child prints no other word
    );
    const [never] = [...calls.values()].filter(({ outcome }) => outcome === 'void');
    expect(never).toMatchObject({ status: 'error', transport: null, retries: null, session_id: null });
    expect(never?.error).toContain('did not run');
    expectWholeLines();
  },
);

test.each([1, 60, 700])(
  verifies('journal:kill-9', 'kill -9 after %i sends: every acknowledged one is on the ledger, none torn'),
  async (count) => {
    const acknowledged = await killAfter(spawnChild('calls'), count);
    expect(journals()).not.toEqual([]);

    await open();
    const calls = new Map((await readCalls(placesIn(workspace))).map((call) => [call.call_id, call]));
    const sent = acknowledged.filter((line) => line.startsWith('sent ')).map((line) => line.slice(5));
    const done = acknowledged.filter((line) => line.startsWith('done ')).map((line) => line.slice(5));
    expect(sent.length).toBeGreaterThanOrEqual(count);
    expect(sent.filter((id) => !calls.has(id))).toEqual([]);
    expect(done.filter((id) => calls.get(id)?.outcome !== 'ok')).toEqual([]);
    const interrupted = [...calls.values()].filter((call) => call.outcome === 'interrupted');
    // The child leaves each tenth call without an answer.
    expect(interrupted.length).toBeGreaterThanOrEqual(Math.floor(sent.length / 10));
    for (const call of interrupted) {
      expect(call).toMatchObject({ status: 'error', duration_ms: null, error: expect.stringContaining('hub died') });
    }
    expect(journals()).toHaveLength(1);
    expectWholeLines();
  },
);

test('several starters at once: each call is recovered once, by one of them', async () => {
  const acknowledged = await killAfter(spawnChild('calls'), 300);
  const starters = [1, 2, 3, 4].map(() => spawnChild('recover'));
  const codes = await Promise.all(starters.map((starter) => once(starter.process, 'exit')));
  expect(codes.map(([code]) => code)).toEqual([0, 0, 0, 0]);
  const ids = (await readCalls(placesIn(workspace))).map((call) => call.call_id);
  expect(new Set(ids).size).toBe(ids.length);
  const sent = acknowledged.filter((line) => line.startsWith('sent ')).map((line) => line.slice(5));
  expect(sent.filter((id) => !ids.includes(id))).toEqual([]);
  expect(journals()).toEqual([]);
  expectWholeLines();
});

test('starters at once never share out the files of one life', async () => {
  const boots = Array.from({ length: 20 }, (_, index) => `b${String.fromCharCode(97 + index)}`);
  for (const boot of boots) {
    journal(`20260101T000000Z-${boot}.jsonl`, [header(), sentLine(`${boot}-1`)]);
    journal(`20260101T000100Z-${boot}.2.jsonl`, [header(), doneLine(`${boot}-1`)]);
  }
  await Promise.all(Array.from({ length: 6 }, () => open()));
  const calls = await readCalls(placesIn(workspace));
  expect(calls.map((call) => call.call_id).sort()).toEqual(boots.map((boot) => `${boot}-1`));
  expect(calls.filter((call) => call.outcome !== 'ok')).toEqual([]);
});

test('who comes too late for the oldest file of a life takes none of it', async () => {
  journal('20260101T000000Z-aaa.jsonl', [header()]);
  journal('20260101T000100Z-aaa.2.jsonl', [header()]);
  const folder = join(workspace, 'state/journal');
  const [life = []] = await journalLives(folder);
  renameSync(join(folder, '20260101T000000Z-aaa.jsonl'), join(folder, '20260101T000000Z-aaa.jsonl.claimed-bbb-1-1'));
  const guarded = ensureGuardedFolder(workspace, ['state', 'journal']);
  expect(claimLife(guarded, life, 'ccc')).toEqual([]);
  guarded.close();
  expect(journals()).toEqual(['20260101T000000Z-aaa.jsonl.claimed-bbb-1-1', '20260101T000100Z-aaa.2.jsonl']);
});

test('recovery next to a living hub leaves its files alone', async () => {
  const child = spawnChild('calls');
  await reached(child, 5);
  const before = journals();
  await open();
  expect(journals()).toEqual(expect.arrayContaining(before));
  expect((await readCalls(placesIn(workspace))).filter((call) => call.outcome === 'interrupted')).toEqual([]);
});

test(
  verifies(
    'journal:torn-line',
    'records are paired across rotated files; a torn last line is dropped, damage in the middle counted',
  ),
  async () => {
    journal('20260101T000000Z-aaa.jsonl', [
      header(),
      sentLine('aaa-1', '{"n":12345678901234567890}'),
      sentLine('aaa-2'),
      '{"k":"sent","id":"aaa-',
      'not json',
      '{"k":"sent","ts":"2026-01-01T00:00:00.000Z","id":"aaa-9","run":"../../escape","server":"s"}',
    ]);
    journal(
      '20260101T000100Z-aaa.2.jsonl',
      [header(), doneLine('aaa-1'), refusedLine('aaa-3'), doneLine('aaa-77')],
      '{"k":"do',
    );
    await open();
    expect(
      (await readCalls(placesIn(workspace))).map((call) => [call.call_id, call.outcome, call.duration_ms]),
    ).toEqual([
      ['aaa-1', 'ok', 2.5],
      ['aaa-2', 'interrupted', null],
      ['aaa-3', 'denied', 0],
    ]);
    expect(runText()).toContain('"args":{"n":12345678901234567890},"status":"ok"');
    expect(runText()).toContain('"session_id":"x\\"y"');
    expect(runText()).toContain('"agent":"a","chain":["a","b"],"call_id"');
    expect(events).toContainEqual({ event: 'ledger.records-corrupted', fields: expect.objectContaining({ count: 3 }) });
    expect(journals()).toHaveLength(1);
  },
);

test('a transport over which no revision was agreed on is kept', async () => {
  const refused = ledgerConnection({ transport: 'http', protocolVersion: null, sessionId: null });
  journal('20260101T000000Z-aaa.jsonl', [header(), sentRecord(parts('aaa-1', '{}'), refused).trimEnd()]);
  await open();
  expect(await readCalls(placesIn(workspace))).toMatchObject([
    { transport: 'http', protocol_version: null, session_id: null },
  ]);
});

test('what a server was asked is kept, and a journal that does not tell it is one of tools', async () => {
  const facts = { agent: 'a', chain: ['a'], server: 's', decision: 'allow' };
  const prompt = ledgerSubject({ ...facts, tool: 'prompt:p', method: 'prompts/get' });
  const asked = sentRecord({ ...parts('aaa-1', '{}'), subject: prompt }, connection).trimEnd();
  journal('20260101T000000Z-aaa.jsonl', [header(), asked, sentLine('aaa-2')]);
  await open();
  const [first, second] = await readCalls(placesIn(workspace));
  expect(first).toMatchObject({ tool: 'prompt:p', method: 'prompts/get', outcome: 'interrupted' });
  expect(second).not.toHaveProperty('method');
});

test('recovery that was interrupted itself is taken up again: lines once, a dead claim is no claim', async () => {
  journal('20260101T000000Z-aaa.jsonl', [header(), sentLine('aaa-1'), sentLine('aaa-2'), doneLine('aaa-2')]);
  await open();
  const text = runText();
  await closeAll();
  // As if the first recovery had died before it sealed the file, its line for aaa-2 half written.
  await rm(join(workspace, 'state/journal/20260101T000000Z-aaa.jsonl.sealed'));
  journal(`20260101T000000Z-aaa.jsonl.claimed-bbb-${deadPid()}-5`, [
    header(),
    sentLine('aaa-1'),
    sentLine('aaa-2'),
    doneLine('aaa-2'),
  ]);
  journal('20260101T000500Z-aaa.2.jsonl', [header(), sentLine('aaa-3'), doneLine('aaa-3')]);
  writeFileSync(runPath(), `${text}{"ts":"2026`);
  await open();
  expect(runText().startsWith(text)).toBe(true);
  expect((await readCalls(placesIn(workspace))).map((call) => call.call_id).sort()).toEqual([
    'aaa-1',
    'aaa-2',
    'aaa-3',
  ]);
  expect(journals()).toHaveLength(1);
  expectWholeLines();
});

test('a claim of a living process stands, for every file of that life', async () => {
  const self = thisProcess();
  journal(`20260101T000000Z-aaa.jsonl.claimed-bbb-${self.pid}-${self.start ?? 'x'}`, [header(), sentLine('aaa-1')]);
  journal('20260101T000500Z-aaa.2.jsonl', [header(), sentLine('aaa-2')]);
  await open();
  expect(await readCalls(placesIn(workspace))).toEqual([]);
  expect(journals()).toHaveLength(3);
});

test('the same pid with another start time is another process', async () => {
  const self = thisProcess();
  if (self.start === undefined) expect(process.platform).not.toBe('linux');
  const other = { pid: self.pid, start: (self.start ?? 0) + 1 };
  journal('20260101T000000Z-aaa.jsonl', [header(other), sentLine('aaa-1')]);
  await open();
  expect(await readCalls(placesIn(workspace))).toHaveLength(self.start === undefined ? 0 : 1);
});

test('a file without a readable header is young or dead: time tells', async () => {
  journal('20260101T000000Z-aaa.jsonl', [], '{"k":"hea');
  journal('20260101T000000Z-bbb.jsonl', ['garbage', sentLine('bbb-1')]);
  journal('notes.txt', ['not ours']);
  await open();
  expect(journals()).toHaveLength(4);
  await closeAll();
  const past = new Date(Date.now() - 120_000);
  for (const file of journals()) utimesSync(join(workspace, 'state/journal', file), past, past);
  await open();
  expect((await readCalls(placesIn(workspace))).map((call) => call.call_id)).toEqual(['bbb-1']);
  expect(journals().filter((file) => !file.includes(bootOfLast()))).toEqual(['notes.txt']);
});

test('what cannot be written now is left for the next start, and the hub starts all the same', async () => {
  journal('20260101T000000Z-aaa.jsonl', [header(), sentLine('aaa-1'), doneLine('aaa-1')]);
  mkdirSync(join(workspace, '.runs/agents'), { recursive: true });
  writeFileSync(join(workspace, '.runs/agents/run'), 'in the way');
  await open();
  expect(events.map(({ event }) => event)).toContain('ledger.recovery-postponed');
  expect(journals()).toContain('20260101T000000Z-aaa.jsonl.left');
  await rm(join(workspace, '.runs/agents/run'));
  await open();
  expect((await readCalls(placesIn(workspace))).map((call) => call.call_id)).toEqual(['aaa-1']);
  expect(journals().filter((file) => file.includes('aaa'))).toEqual([]);
});

async function open(): Promise<Ledger> {
  const log = (event: string, fields?: Readonly<Record<string, unknown>>): void => void events.push({ event, fields });
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const same = (text: string): string => text;
  const ledger = await openLedger(
    { clock: createSystemClock(), logger, random: systemRandom, redact: { json: same, message: same } },
    { ...placesIn(workspace), sync: 'os' },
  );
  opened.push(ledger);
  return ledger;
}

async function closeAll(): Promise<void> {
  for (const ledger of opened.splice(0)) await ledger.close();
}

function bootOfLast(): string {
  return opened.at(-1)?.open(subject, 'run', '{}').id.split('-')[0] ?? 'none';
}

interface Child {
  readonly process: ChildProcess;
  output: string;
}

function spawnChild(mode: 'calls' | 'hold' | 'recover'): Child {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = {
    process: spawn(process.execPath, [join(built, 'child.js'), mode, workspace], { stdio: [...stdio] }),
    output: '',
  };
  child.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
    child.output += text;
  });
  children.push(child);
  return child;
}

/** Waits for so many acknowledged sends, kills, and returns every line the child got out. */
async function killAfter(child: Child, sends: number): Promise<string[]> {
  await reached(child, sends);
  child.process.kill('SIGKILL');
  // `close` comes when the pipe is empty too.
  await once(child.process, 'close');
  return child.output.split('\n').slice(0, -1);
}

function reached(child: Child, sends: number): Promise<void> {
  const enough = (): void => expect(child.output.match(/^sent .*\n/gm)?.length ?? 0).toBeGreaterThanOrEqual(sends);
  return vi.waitFor(enough, { timeout: 60_000, interval: 2 });
}

function header(owner: ProcessLife = { pid: deadPid(), start: 5 }): string {
  return JSON.stringify({ k: 'header', version: 1, boot: 'aaa', pid: owner.pid, pid_start: owner.start ?? null });
}

/** Above the highest pid that Linux and macOS give. */
function deadPid(): number {
  return 4_194_400;
}

function sentLine(id: string, args = '{}'): string {
  return sentRecord(parts(id, args), connection).trimEnd();
}

function doneLine(id: string): string {
  const end = { outcome: 'ok', ms: '2.5', error: 'null', http: '200', retries: '0' } as const;
  return doneRecord(parts(id, '{}'), end, '2026-01-01T00:00:01.000Z').trimEnd();
}

function refusedLine(id: string): string {
  const end = { outcome: 'denied', ms: '0', error: '"no"', http: 'null', retries: 'null' } as const;
  return refusedRecord(parts(id, '{}'), end).trimEnd();
}

function parts(id: string, args: string): CallParts {
  return { id, ts: `2026-01-01T00:00:00.00${id.at(-1)}Z`, run: 'run', subject, args };
}

function journal(file: string, lines: readonly string[], torn = ''): void {
  const folder = join(workspace, 'state/journal');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), lines.map((line) => `${line}\n`).join('') + torn);
}

/** Files that are not sealed. */
function journals(): string[] {
  const files = readdirSync(join(workspace, 'state/journal'));
  return files.filter((file) => !file.endsWith('.sealed')).sort();
}

function runPath(run = 'run'): string {
  return join(workspace, '.runs/agents', run, 'mcp_calls.jsonl');
}

function runText(run = 'run'): string {
  return readFileSync(runPath(run), 'utf8');
}

function expectWholeLines(): void {
  for (const run of readdirSync(join(workspace, '.runs/agents'))) {
    expect(runText(run).endsWith('\n')).toBe(true);
    for (const line of runText(run).trimEnd().split('\n')) JSON.parse(line);
  }
}
