import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSystemClock, type Logger, systemRandom } from '../base/index.ts';
import { type Ledger, type LedgerFiles, ledgerConnection, ledgerSubject, openLedger } from './index.ts';
import { systemFiles } from './journal/file-operations.ts';
import { placesIn } from './ledger-places.fixture.ts';

const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
const connection = ledgerConnection({ transport: 'http', protocolVersion: '2026-07-28', sessionId: 'x' });
const noSpace = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
const refusedText = `{"text":"${'x'.repeat(5000)}"}`;
const big = `{"text":"${'x'.repeat(20_000)}"}`;

let workspace: string;
let events: string[];
let cleanUp: (() => Promise<void> | void)[];

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-faults-'));
  events = [];
  cleanUp = [() => rm(workspace, { recursive: true })];
});

afterEach(async () => {
  for (const step of cleanUp.reverse()) await step();
});

/** A disk that can be filled and freed. */
interface SmallDisk {
  readonly files: Partial<LedgerFiles>;
  fill(): void;
  free(): void;
}

/** Takes half of the next write and then nothing, as file systems do. */
function injectedDisk(): SmallDisk {
  let room = Number.POSITIVE_INFINITY;
  return {
    files: {
      write(fd, bytes, offset, length, position) {
        if (room === 0) throw noSpace;
        const written = systemFiles.write(fd, bytes, offset, Math.min(length, room), position);
        room -= written;
        return written;
      },
      append(fd, bytes) {
        if (bytes.length > room) throw noSpace;
        systemFiles.append(fd, bytes);
      },
    },
    fill: () => {
      room = 10_000;
    },
    free: () => {
      room = Number.POSITIVE_INFINITY;
    },
  };
}

test('a full disk refuses calls, loses nothing that ended, and is well again by itself', async () => {
  const disk = injectedDisk();
  const book = await open(disk.files);
  const before = book.open(subject, 'run', '{"before":1}');
  await book.sent(before, connection);
  await book.flush();
  const good = journalText();
  disk.fill();

  const during = book.open(subject, 'run', big);
  const refusal = await book.sent(during, connection).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(refusal).toMatchObject({ code: 'LEDGER_UNAVAILABLE', hint: expect.stringContaining('disk space') });
  expect(JSON.stringify([String(refusal), refusal])).not.toMatch(/\.jsonl|\/tmp|journal\//);
  expect(String(refusal)).toContain('ENOSPC');
  expect(journalText()).toBe(good);
  expect(book.health).toMatchObject({ reason: expect.stringContaining('ENOSPC') });

  const atOnce = book.open(subject, 'run', big);
  await expect(book.sent(atOnce, connection)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  book.refused(atOnce, { outcome: 'unavailable', durationMs: 1, error: 'not recorded' });
  book.done(before, { outcome: 'ok', durationMs: 5 });
  await expect(book.flush()).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  expect(book.health).not.toBe('good');

  disk.free();
  await vi.waitFor(() => expect(book.health).toBe('good'), { timeout: 60_000 });
  const after = book.open(subject, 'run', '{"after":1}');
  await book.sent(after, connection);
  book.done(after, { outcome: 'ok', durationMs: 1 });
  await book.flush();
  expect(lines('run').map((line) => [line.call_id, line.outcome])).toEqual([
    [atOnce.id, 'unavailable'],
    [before.id, 'ok'],
    [after.id, 'ok'],
  ]);
  await book.close();
  expect(journals()).toEqual([]);
});

test('a call that ended in the very turn whose write failed is kept as refused', async () => {
  const disk = injectedDisk();
  const book = await open(disk.files);
  disk.fill();
  const call = book.open(subject, 'run', big);
  const sent = book.sent(call, connection);
  book.done(call, { outcome: 'cancelled', durationMs: 0 });
  await expect(sent).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  disk.free();
  await book.flush();
  expect(lines('run')).toMatchObject([{ call_id: call.id, outcome: 'cancelled', transport: null }]);
  // Whole in the journal too: there is no other record that it could be paired with.
  expect(journalText()).toContain(`"k":"refused","ts":"${call.ts}","id":"${call.id}"`);
});

test('a call whose send was refused can be ended with either word', async () => {
  const disk = injectedDisk();
  const book = await open(disk.files);
  disk.fill();
  const call = book.open(subject, 'run', big);
  await expect(book.sent(call, connection)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  book.done(call, { outcome: 'unavailable', durationMs: 0 });
  disk.free();
  await book.flush();
  expect(lines('run')).toMatchObject([{ call_id: call.id, outcome: 'unavailable', transport: null }]);
  expect(journalText()).toContain('"k":"gap"');
});

test('what is kept in memory is bounded, and what is dropped is counted', async () => {
  const disk = injectedDisk();
  const book = await open(disk.files);
  disk.fill();
  await expect(book.sent(book.open(subject, 'run', big), connection)).rejects.toThrow();
  const huge = `{"text":"${'x'.repeat(4_000_000)}"}`;
  // The beginning of its arguments is all that is kept of each: somewhat over 4,000 characters.
  const refused = 4500;
  for (let count = 0; count < refused; count++) {
    book.refused(book.open(subject, 'run', count === 0 ? huge : refusedText), { outcome: 'denied', durationMs: 0 });
  }
  expect(events.filter((event) => event.startsWith('ledger.records-dropped'))).toHaveLength(1);
  disk.free();
  await book.flush();
  const recovered = events.find((event) => event.startsWith('ledger.write-recovered')) ?? '';
  const { kept, dropped } = JSON.parse(recovered.slice(recovered.indexOf('{'))) as { kept: number; dropped: number };
  expect([kept + dropped, kept < refused, kept > 3000]).toEqual([refused, true, true]);
  expect(lines('run')).toHaveLength(kept);
});

test('when even the cut fails, it is done before the next write', async () => {
  const disk = injectedDisk();
  let broken = false;
  const book = await open({
    ...disk.files,
    truncate(fd, size) {
      if (broken) throw new Error('EIO');
      systemFiles.truncate(fd, size);
    },
  });
  broken = true;
  disk.fill();
  await expect(book.sent(book.open(subject, 'run', big), connection)).rejects.toThrow();
  expect(journalText().endsWith('\n')).toBe(false);
  disk.free();
  await expect(book.flush()).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  broken = false;
  await book.flush();
  expect(book.health).toBe('good');
  expect(journalText().endsWith('\n')).toBe(true);
  expect(() =>
    journalText()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).not.toThrow();
});

test('with sync always a record is flushed to the disk before the call goes out, and a failed flush refuses it', async () => {
  const steps: string[] = [];
  let broken = false;
  const files: Partial<LedgerFiles> = {
    write(...all) {
      steps.push('write');
      return systemFiles.write(...all);
    },
    sync(fd) {
      steps.push('sync');
      if (broken) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
      systemFiles.sync(fd);
    },
  };
  const book = await open(files, 'always');
  steps.length = 0;
  await book.sent(book.open(subject, 'run', '{}'), connection).then(() => steps.push('released'));
  expect(steps).toEqual(['write', 'sync', 'released']);
  const good = journalText();
  broken = true;
  await expect(book.sent(book.open(subject, 'run', '{}'), connection)).rejects.toThrow('EIO');
  expect(journalText()).toBe(good);
  broken = false;
});

test('a ledger that cannot start says so', async () => {
  writeFileSync(join(workspace, 'state'), 'a file where the folder should be');
  await expect(open({})).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
});

test('closing on a full disk ends, says what is lost, and leaves the journal for the next start', async () => {
  const disk = injectedDisk();
  const book = await open(disk.files);
  const call = book.open(subject, 'run', '{}');
  await book.sent(call, connection);
  disk.fill();
  await expect(book.sent(book.open(subject, 'run', big), connection)).rejects.toThrow();
  book.done(call, { outcome: 'ok', durationMs: 1 });
  await book.close();
  expect(events.some((event) => event.startsWith('ledger.records-lost'))).toBe(true);
  disk.free();
  await open({});
  expect(lines('run')).toMatchObject([{ call_id: call.id, outcome: 'interrupted' }]);
});

async function open(files: Partial<LedgerFiles>, sync: 'os' | 'always' = 'os'): Promise<Ledger> {
  const log = (event: string, fields?: object): void => void events.push(`${event} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const same = (text: string): string => text;
  const redact = { json: same, message: same };
  const book = await openLedger(
    { clock: createSystemClock(), logger, random: systemRandom, redact, files },
    { ...placesIn(workspace), sync },
  );
  cleanUp.push(() => book.close());
  return book;
}

/** Files that are not sealed. */
function journals(): string[] {
  return readdirSync(join(workspace, 'state/journal')).filter((file) => !file.endsWith('.sealed'));
}

function journalText(): string {
  return journals()
    .map((file) => readFileSync(join(workspace, 'state/journal', file), 'utf8'))
    .join('');
}

function lines(run: string): Record<string, unknown>[] {
  const text = readFileSync(join(workspace, '.runs/agents', run, 'mcp_calls.jsonl'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
