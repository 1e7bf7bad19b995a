import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../base/index.ts';
import { type Ledger, type LedgerFiles, ledgerConnection, ledgerSubject, openLedger } from './index.ts';
import { systemFiles } from './journal/file-operations.ts';
import { placesIn } from './ledger-places.fixture.ts';
import { readOpenCalls } from './reading/open-calls.ts';
import { readCalls } from './reading/read-calls.ts';

const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'ask', rule: 's.*' });
const connection = ledgerConnection({ transport: 'http', protocolVersion: '2025-11-25', sessionId: 'one' });
const other = ledgerConnection({ transport: 'http', protocolVersion: '2025-11-25', sessionId: 'two' });
const denied = { outcome: 'denied', durationMs: 1, error: 'no' } as const;
const ok = { outcome: 'ok', durationMs: 1, retries: 0 } as const;

let workspace: string;
let ledger: Ledger | undefined;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-held-'));
});

afterEach(async () => {
  await ledger?.close();
  ledger = undefined;
  await rm(workspace, { recursive: true });
});

test(verifies('ledger:held', 'a held call is on disk when the record is acknowledged, and shown as held'), async () => {
  const book = await open();
  const call = book.open(subject, 'run', '{"n":12345678901234567890}');
  await book.held(call);
  expect(kinds()).toEqual(['header', 'held']);
  expect(await readOpenCalls(placesIn(workspace))).toMatchObject([
    { call_id: call.id, status: 'open', outcome: 'held', transport: null, decision: 'ask', rule: 's.*', error: null },
  ]);
  expect(await readCalls(placesIn(workspace))).toEqual([]);

  await book.sent(call, connection);
  expect(await readOpenCalls(placesIn(workspace))).toMatchObject([
    { call_id: call.id, outcome: 'open', session_id: 'one' },
  ]);
  book.done(call, ok);
  await book.flush();
  expect(await readOpenCalls(placesIn(workspace))).toEqual([]);
  expect(await readCalls(placesIn(workspace))).toMatchObject([{ call_id: call.id, outcome: 'ok', transport: 'http' }]);
});

test(verifies('ledger:held', 'a held call that is refused has one line, and was never sent'), async () => {
  const book = await open();
  const call = book.open(subject, 'run', '{}');
  await book.held(call);
  book.done(call, denied);
  await book.flush();
  expect(kinds()).toEqual(['header', 'held', 'refused']);
  expect(await readOpenCalls(placesIn(workspace))).toEqual([]);
  const lines = await readCalls(placesIn(workspace));
  expect(lines).toMatchObject([{ call_id: call.id, outcome: 'denied', transport: null, retries: null }]);
});

test(verifies('journal:rotation', 'the journal is kept while a call is held, and removed after its end'), async () => {
  const book = await open({}, 1500);
  const held = book.open(subject, 'run', '{"held":true}');
  await book.held(held);
  const [first] = journals();
  for (let number = 0; number < 30; number++) await answer(book, number);
  await book.flush();
  expect(await readOpenCalls(placesIn(workspace))).toMatchObject([{ call_id: held.id, outcome: 'held' }]);
  expect(journals()).toContain(first);
  await book.sent(held, connection);
  // Its newest record says all that the first one did.
  await answer(book, 30);
  await book.flush();
  expect(journals()).not.toContain(first);
  expect(await readOpenCalls(placesIn(workspace))).toMatchObject([{ call_id: held.id, outcome: 'open' }]);
  book.done(held, ok);
  await book.flush();
  expect(await readCalls(placesIn(workspace))).toHaveLength(32);
});

test(verifies('ledger:held', 'without a record a call is not held; one that is held stays so'), async () => {
  let full = false;
  const book = await open({
    write(...args) {
      if (full) throw new Error('no room');
      return systemFiles.write(...args);
    },
  });
  const waiting = book.open(subject, 'run', '{"waiting":true}');
  await book.held(waiting);
  full = true;
  const late = book.open(subject, 'run', '{"late":true}');
  await expect(book.held(late)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  await expect(book.sent(waiting, connection)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  expect([late.stage, waiting.stage]).toEqual(['open', 'held']);
  full = false;
  await vi.waitFor(() => expect(book.health).toBe('good'), { timeout: 60_000 });
  for (const call of [late, waiting]) book.done(call, denied);
  await book.flush();
  expect(await readOpenCalls(placesIn(workspace))).toEqual([]);
  expect((await readCalls(placesIn(workspace))).map(({ outcome, transport }) => [outcome, transport])).toEqual([
    ['denied', null],
    ['denied', null],
  ]);
});

test(verifies('ledger:held', 'a call that ends in the turn that should have sent it was not sent'), async () => {
  let full = false;
  const book = await open({
    write(...args) {
      if (full) throw new Error('no room');
      return systemFiles.write(...args);
    },
  });
  const [first, call] = [book.open(subject, 'run', '{}'), book.open(subject, 'run', '{}')];
  // A call that is alone is written at once; with another one in flight both wait for the turn to end.
  await book.sent(first, connection);
  await book.held(call);
  full = true;
  const sent = book.sent(call, connection);
  book.done(call, { outcome: 'cancelled', durationMs: 1 });
  await expect(sent).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  full = false;
  await vi.waitFor(() => expect(book.health).toBe('good'), { timeout: 60_000 });
  book.done(first, ok);
  await book.flush();
  expect(await readOpenCalls(placesIn(workspace))).toEqual([]);
  const ends = (await readCalls(placesIn(workspace))).map(({ outcome, transport }) => [outcome, transport]);
  expect(ends.sort()).toEqual([
    ['cancelled', null],
    ['ok', 'http'],
  ]);
});

test(
  verifies('ledger:connection', 'a call that is sent again is recorded with the connection that carried it'),
  async () => {
    const book = await open({}, 600);
    const call = book.open(subject, 'run', '{}');
    await book.sent(call, connection);
    await book.sent(call, other);
    expect(kinds().filter((kind) => kind === 'sent')).toHaveLength(2);
    expect(await readOpenCalls(placesIn(workspace))).toMatchObject([{ call_id: call.id, session_id: 'two' }]);
    book.done(call, { ...ok, retries: 1 });
    await book.flush();
    expect(await readCalls(placesIn(workspace))).toMatchObject([{ call_id: call.id, session_id: 'two', retries: 1 }]);
  },
);

test(verifies('ledger:connection', 'the facts of a connection may be getters'), async () => {
  class LiveFacts {
    get transport() {
      return 'http' as const;
    }
    get protocolVersion() {
      return '2025-11-25';
    }
    get sessionId() {
      return 'one';
    }
  }
  const book = await open();
  expect(book.connection(new LiveFacts())).toEqual(connection);
});

async function answer(book: Ledger, number: number): Promise<void> {
  const call = book.open(subject, 'run', `{"number":${number}}`);
  await book.sent(call, connection);
  book.done(call, ok);
}

async function open(files: Partial<LedgerFiles> = {}, rotateBytes = 1_000_000): Promise<Ledger> {
  const same = (text: string): string => text;
  ledger = await openLedger(
    {
      clock: createSystemClock(),
      logger: createSilentLogger(),
      random: systemRandom,
      redact: { json: same, message: same },
      files,
    },
    { ...placesIn(workspace), sync: 'os', rotateBytes },
  );
  return ledger;
}

/** Files that are not sealed. */
function journals(): string[] {
  const files = readdirSync(join(workspace, 'state/journal'));
  return files.filter((file) => !file.endsWith('.sealed')).sort();
}

function kinds(): string[] {
  return journals().flatMap((file) =>
    readFileSync(join(workspace, 'state/journal', file), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { k: string }).k) // every record has a kind
      .filter((kind) => kind !== 'chain'),
  );
}
