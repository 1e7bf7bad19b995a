import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { type Clock, createSystemClock, type Logger, systemRandom } from '../../base/index.ts';
import {
  type Ledger,
  type LedgerFiles,
  ledgerConnection,
  ledgerSubject,
  type OpenCall,
  openLedger,
  readCalls,
  readOpenCalls,
} from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';
import { systemFiles } from './file-operations.ts';

const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });

/** What may happen to the folders of a running hub. */
const losses: readonly [string, (workspace: string) => void][] = [
  ['the state folder is deleted', (workspace) => rmSync(join(workspace, 'state'), { recursive: true })],
  ['the journal folder is deleted', (workspace) => rmSync(journalOf(workspace), { recursive: true })],
  ['the journal file is deleted', (workspace) => unlinkSync(join(journalOf(workspace), only(workspace)))],
  ['the state folder is renamed', (workspace) => renameSync(join(workspace, 'state'), join(workspace, 'elsewhere'))],
  ['the journal folder is renamed', (workspace) => renameSync(journalOf(workspace), `${journalOf(workspace)}-old`)],
  [
    'the journal file is renamed',
    (workspace) => renameSync(join(journalOf(workspace), only(workspace)), join(journalOf(workspace), 'old')),
  ],
];

test.each(losses)(
  verifies('journal:gone', '%s: the next call is refused, then all is recorded again and nothing is lost'),
  async (_what, lose) => {
    const { workspace, events, open } = stage();
    const ledger = await open();
    const [ended, inFlight] = [await send(ledger, 'ended'), await send(ledger, 'in-flight')];
    ledger.done(ended, { outcome: 'ok', durationMs: 1 });
    await ledger.flush();
    lose(workspace);

    const refused = ledger.open(subject, 'run', '{"at":"refused"}');
    await expect(ledger.sent(refused, connection)).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      message: expect.stringContaining('deleted, moved or replaced'),
    });
    expect(ledger.health).toMatchObject({ reason: 'the journal was deleted, moved or replaced' });
    ledger.refused(refused, { outcome: 'unavailable', durationMs: 0, error: 'not recorded' });

    await vi.waitFor(() => expect(ledger.health).toBe('good'), { timeout: 10_000 });
    expect(events).toEqual(expect.arrayContaining(['ledger.journal-gone', 'ledger.journal-restored']));
    // A call that began before is still known to be in flight.
    expect((await readOpenCalls(placesIn(workspace))).map((call) => call.call_id)).toEqual([inFlight.id]);
    const after = await send(ledger, 'after');
    for (const call of [inFlight, after]) ledger.done(call, { outcome: 'ok', durationMs: 1 });
    await ledger.flush();
    const ids = (await readCalls(placesIn(workspace))).map((call) => call.call_id);
    expect(ids.sort()).toEqual([ended.id, inFlight.id, refused.id, after.id].sort());
    await ledger.close();
    expect(unsealed(journalOf(workspace)).filter((name) => name !== 'old')).toEqual([]);
  },
);

test.each([
  ['a copy of itself', replaceByCopy],
  [
    'a link to where it is now',
    (workspace: string) => {
      renameSync(journalOf(workspace), join(workspace, 'moved'));
      symlinkSync(join(workspace, 'moved'), journalOf(workspace));
    },
  ],
])('a journal replaced by %s is noticed while nobody calls', async (_what, replace) => {
  const { workspace, events, open } = stage();
  const ledger = await open();
  const call = await send(ledger, 'before');
  replace(workspace);
  // Records go to the old file until it is noticed, and are not lost with it.
  ledger.done(call, { outcome: 'ok', durationMs: 1 });
  await vi.waitFor(() => expect(events).toContain('ledger.journal-gone'), { timeout: 10_000 });
  rmSync(join(workspace, 'moved'), { recursive: true, force: true });
  rmSync(journalOf(workspace), { recursive: true, force: true });
  await vi.waitFor(() => expect(ledger.health).toBe('good'), { timeout: 10_000 });
  expect(journalText(workspace)).toContain(`"k":"done"`);
  await ledger.flush();
  expect(await readCalls(placesIn(workspace))).toMatchObject([{ call_id: call.id, outcome: 'ok' }]);
});

test('no call goes out once a copy has taken the place of the journal', async () => {
  const { workspace, open } = stage();
  const ledger = await open();
  await send(ledger, 'before');
  replaceByCopy(workspace);
  // Two writes within this time trust that the file is the same.
  await new Promise((resolve) => setTimeout(resolve, 20));
  await expect(send(ledger, 'after')).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  await vi.waitFor(() => expect(ledger.health).toBe('good'), { timeout: 10_000 });
  await send(ledger, 'later');
  expect(journalText(workspace)).toContain('later');
  await ledger.close();
});

test('what was written before the loss was noticed is brought back', async () => {
  let now = 0;
  const { workspace, open } = stage({ ...createSystemClock(), monotonic: () => now });
  const ledger = await open();
  await end(ledger);
  rmSync(journalOf(workspace), { recursive: true });
  const unnoticed = await send(ledger, 'unnoticed');
  now += 10;
  await expect(send(ledger, 'refused')).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  await vi.waitFor(() => expect(ledger.health).toBe('good'), { timeout: 10_000 });
  expect((await readOpenCalls(placesIn(workspace))).map((call) => call.call_id)).toContain(unnoticed.id);
});

test('older files that calls still need are put back too, in their order', async () => {
  const { workspace, open } = stage();
  const ledger = await open({ rotateBytes: 500 });
  const calls: OpenCall[] = [];
  for (let count = 0; count < 8; count++) calls.push(await send(ledger, `call ${count}`));
  expect(readdirSync(journalOf(workspace)).length).toBeGreaterThan(2);
  rmSync(join(workspace, 'state'), { recursive: true });
  await expect(send(ledger, 'refused')).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  await vi.waitFor(() => expect(ledger.health).toBe('good'), { timeout: 10_000 });
  expect((await readOpenCalls(placesIn(workspace))).map((call) => call.call_id)).toEqual(calls.map(({ id }) => id));
  for (const call of calls) ledger.done(call, { outcome: 'ok', durationMs: 1 });
  await ledger.flush();
  expect(await readCalls(placesIn(workspace))).toHaveLength(8);
  expect(unsealed(journalOf(workspace))).toHaveLength(1);
});

test(
  verifies('journal:gone', 'an older file that a call still needs is missed too, though no call comes'),
  async () => {
    const { workspace, events, open } = stage();
    const ledger = await open({ rotateBytes: 500 });
    const inFlight = await send(ledger, 'in-flight');
    while (readdirSync(journalOf(workspace)).length < 2) await end(ledger);
    await ledger.flush();
    const holds = (name: string): boolean =>
      readFileSync(join(journalOf(workspace), name), 'utf8').includes('in-flight');
    const [oldest = ''] = readdirSync(journalOf(workspace)).filter(holds);
    unlinkSync(join(journalOf(workspace), oldest));
    await vi.waitFor(() => expect(events).toContain('ledger.journal-gone'), { timeout: 10_000 });
    await vi.waitFor(() => expect(ledger.health).toBe('good'), { timeout: 10_000 });
    expect((await readOpenCalls(placesIn(workspace))).map(({ call_id }) => call_id)).toEqual([inFlight.id]);
  },
);

test('while the folder cannot be made, calls are refused with the reason of now; a restored one goes on', async () => {
  const { workspace, open } = stage();
  const ledger = await open();
  const call = await send(ledger, 'before');
  rmSync(join(workspace, 'state'), { recursive: true });
  writeFileSync(join(workspace, 'state'), 'in the way');
  await expect(send(ledger, 'refused')).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  await expect(ledger.flush()).rejects.toMatchObject({ hint: expect.stringContaining('Move that file away') });
  await expect(send(ledger, 'refused')).rejects.toMatchObject({ message: expect.stringContaining('is not a folder') });
  unlinkSync(join(workspace, 'state'));
  await ledger.flush();
  ledger.done(call, { outcome: 'ok', durationMs: 1 });
  await ledger.flush();
  expect(await readCalls(placesIn(workspace))).toMatchObject([{ call_id: call.id, outcome: 'ok' }]);
});

test('a disk that is full while the journal is put back leaves nothing half made', async () => {
  let full = false;
  const { workspace, open } = stage();
  const ledger = await open({
    files: {
      write(...all) {
        if (full) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
        return systemFiles.write(...all);
      },
    },
  });
  const call = await send(ledger, 'before');
  rmSync(journalOf(workspace), { recursive: true });
  full = true;
  await expect(send(ledger, 'refused')).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  await expect(ledger.flush()).rejects.toMatchObject({ message: expect.stringContaining('ENOSPC') });
  expect(unsealed(journalOf(workspace))).toEqual([]);
  full = false;
  await ledger.flush();
  expect((await readOpenCalls(placesIn(workspace))).map(({ call_id }) => call_id)).toEqual([call.id]);
});

test.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'])(
  '%s refuses calls, loses nothing, and passes by itself',
  async (errno) => {
    let broken = false;
    const { workspace, open } = stage();
    const fault = (): void => {
      if (broken) throw Object.assign(new Error(`${errno}: injected`), { code: errno });
    };
    const ledger = await open({
      files: {
        write(...all) {
          fault();
          return systemFiles.write(...all);
        },
        append(...all) {
          fault();
          systemFiles.append(...all);
        },
      },
    });
    const call = await send(ledger, 'before');
    broken = true;
    await expect(send(ledger, 'refused')).rejects.toMatchObject({ message: expect.stringContaining(errno) });
    ledger.done(call, { outcome: 'ok', durationMs: 1 });
    expect(ledger.health).toMatchObject({ reason: expect.stringContaining(errno) });
    broken = false;
    await vi.waitFor(() => expect(ledger.health).toBe('good'), { timeout: 10_000 });
    await ledger.flush();
    expect(await readCalls(placesIn(workspace))).toMatchObject([{ call_id: call.id, outcome: 'ok' }]);
  },
);

test('a run file that is deleted or rotated away under the hub is begun anew', async () => {
  const { workspace, open } = stage();
  const ledger = await open();
  const runs = join(workspace, '.runs/agents/run');
  const seen: string[] = [];
  const steps = [
    () => renameSync(join(runs, 'mcp_calls.jsonl'), join(runs, 'mcp_calls.jsonl.1')),
    () => rmSync(runs, { recursive: true }),
    () => rmSync(join(workspace, '.runs'), { recursive: true }),
  ];
  for (const lose of steps) {
    await end(ledger);
    await ledger.flush();
    lose();
    const { id } = await end(ledger);
    await ledger.flush();
    seen.push(id);
    expect((await readCalls(placesIn(workspace))).map((call) => call.call_id)).toContain(id);
  }
  expect(seen).toHaveLength(3);
});

test('a run file that is deleted between opening and writing gets its lines from the journal', async () => {
  const { workspace, open } = stage();
  let deleted = 0;
  const ledger = await open({
    files: {
      append(fd, bytes) {
        if (deleted++ === 0) rmSync(join(workspace, '.runs'), { recursive: true });
        systemFiles.append(fd, bytes);
      },
    },
  });
  const { id } = await end(ledger);
  await ledger.flush();
  expect((await readCalls(placesIn(workspace))).map((call) => call.call_id)).toEqual([id]);
});

interface OpenOptions {
  readonly rotateBytes?: number;
  readonly files?: Partial<LedgerFiles>;
}

/** By this clock the journal's last look at its folder is always too long ago to be trusted. */
function hurriedClock(): Clock {
  const clock = createSystemClock();
  let ahead = 0;
  return {
    ...clock,
    monotonic() {
      ahead += 10;
      return clock.monotonic() + ahead;
    },
  };
}

function stage(clock = hurriedClock()) {
  const workspace = mkdtempSync(join(tmpdir(), 'qm-gone-'));
  const events: string[] = [];
  const log = (event: string): void => void events.push(event);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const ledgers: Ledger[] = [];
  onTestFinished(async () => {
    for (const ledger of ledgers) await ledger.close();
    rmSync(workspace, { recursive: true });
  });
  const same = (text: string): string => text;
  const redact = { json: same, message: same };
  const open = async ({ files = {}, ...options }: OpenOptions = {}): Promise<Ledger> => {
    const deps = { clock, logger, random: systemRandom, redact, files };
    const ledger = await openLedger(deps, { ...placesIn(workspace), sync: 'os', ...options });
    ledgers.push(ledger);
    return ledger;
  };
  return { workspace, events, open };
}

async function send(ledger: Ledger, at: string): Promise<OpenCall> {
  const call = ledger.open(subject, 'run', JSON.stringify({ at }));
  await ledger.sent(call, connection);
  return call;
}

async function end(ledger: Ledger): Promise<OpenCall> {
  const call = await send(ledger, 'now');
  ledger.done(call, { outcome: 'ok', durationMs: 1 });
  return call;
}

function replaceByCopy(workspace: string): void {
  const folder = journalOf(workspace);
  cpSync(folder, join(workspace, 'copy'), { recursive: true });
  rmSync(folder, { recursive: true });
  mkdirSync(folder, { mode: 0o700 });
  cpSync(join(workspace, 'copy'), folder, { recursive: true });
}

function unsealed(folder: string): string[] {
  return readdirSync(folder).filter((file) => !file.endsWith('.sealed'));
}

function journalOf(workspace: string): string {
  return join(workspace, 'state/journal');
}

function only(workspace: string): string {
  const [name = '', ...others] = readdirSync(journalOf(workspace));
  expect(others).toEqual([]);
  return name;
}

function journalText(workspace: string): string {
  return readdirSync(journalOf(workspace))
    .map((name) => readFileSync(join(journalOf(workspace), name), 'utf8'))
    .join('');
}
