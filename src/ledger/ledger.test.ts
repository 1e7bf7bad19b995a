import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../base/index.ts';
import { type Ledger, type LedgerFiles, ledgerConnection, ledgerSubject, openLedger } from './index.ts';
import { systemFiles } from './journal/file-operations.ts';
import { placesIn } from './ledger-places.fixture.ts';

const subject = ledgerSubject({
  agent: 'tester',
  chain: ['tester'],
  server: 'filesystem',
  tool: 'read_file',
  decision: 'allow',
});
const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });
const hush = (text: string): string => text.replaceAll('hunter2', '[redacted]');

let workspace: string;
let ledger: Ledger | undefined;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-ledger-'));
});

afterEach(async () => {
  await ledger?.close();
  ledger = undefined;
  await rm(workspace, { recursive: true });
});

test(
  verifies(
    'ledger:run-file',
    'a call becomes one line of its run file, members in order, numbers as they were written',
  ),
  async () => {
    const book = await open();
    const call = book.open(subject, 'run-1', '{\n  "path": "a b",\n  "n": 12345678901234567890.10\n}');
    await book.sent(call, connection);
    book.done(call, { outcome: 'ok', durationMs: 1.23456, httpStatus: 200, retries: 1 });
    await book.flush();
    expect(runText('run-1')).toBe(
      `{"ts":"${call.ts}","server":"filesystem","tool":"read_file","args":{"path":"a b","n":12345678901234567890.10},` +
        '"status":"ok","outcome":"ok","duration_ms":1.235,"error":null,"agent":"tester",' +
        `"call_id":"${call.id}","run_id":"run-1","transport":"stdio","protocol_version":"2025-11-25",` +
        '"session_id":null,"http_status":200,"retries":1,"decision":"allow","rule":null,"rule_source":null}\n',
    );
  },
);

test('what is no tool has its method after its name, without secrets where a caller may have written it', async () => {
  const book = await open();
  const facts = { agent: 'a', chain: ['a'], server: 's', method: 'resources/read', decision: 'allow', asSaid: true };
  const call = book.open(ledgerSubject({ ...facts, tool: 'resource:memo://x?key=hunter2' }), 'run-1', '{}');
  await book.sent(call, connection);
  book.done(call, { outcome: 'ok', durationMs: 1 });
  await book.flush();
  const named = '"server":"s","tool":"resource:memo://x?key=[redacted]","method":"resources/read",';
  expect(runText('run-1')).toContain(`${named}"args":{},`);
  expect(JSON.stringify(journalRecords().find(({ k }) => k === 'sent'))).toContain(`${named}"agent":"a"`);
  expect(ledgerSubject({ ...facts, tool: 't', method: 'tools/call' }).what).toBe('"server":"s","tool":"t"');
});

test(
  verifies('ledger:redaction', 'a server writes none of its secrets into listed names or its session id'),
  async () => {
    const book = await open();
    const facts = { agent: 'a', chain: ['a'], server: 'hunter2-files', decision: 'allow' };
    const listed = ledgerSubject({ ...facts, tool: 'prompt:say hunter2', method: 'prompts/get' });
    const carrier = book.connection({ transport: 'http', protocolVersion: '2025-11-25', sessionId: 'id-hunter2' });
    expect(carrier.text).toContain('"session_id":"id-[redacted]"');
    const calls = [1, 2].map(() => book.open(listed, 'run-1', '{}'));
    // Redacted once, for all calls of it.
    expect(calls[0]?.subject).toBe(calls[1]?.subject);
    for (const call of calls) {
      await book.sent(call, carrier);
      book.done(call, { outcome: 'ok', durationMs: 1 });
    }
    await book.flush();
    // The server's name is the operator's own.
    const named = '"server":"hunter2-files","tool":"prompt:say [redacted]","method":"prompts/get",';
    expect(runText('run-1').split(named)).toHaveLength(3);
    expect(runText('run-1').replaceAll('hunter2-files', '')).not.toContain('hunter2');
    expect(JSON.stringify(journalRecords()).replaceAll('hunter2-files', '')).not.toContain('hunter2');
    expect(book.open(subject, 'run-1', '{}').subject).toBe(subject);
  },
);

test(
  verifies(
    'journal:before-send',
    'the record is in the journal when sent resolves, and the end rides along later by itself',
  ),
  async () => {
    const book = await open();
    const call = book.open(subject, 'run-1', '{"path":"x"}');
    expect(journalRecords()).toHaveLength(1);
    await book.sent(call, connection);
    expect(journalRecords().at(-1)).toEqual({
      k: 'sent',
      ts: call.ts,
      id: call.id,
      run: 'run-1',
      server: 'filesystem',
      tool: 'read_file',
      agent: 'tester',
      decision: 'allow',
      rule: null,
      rule_source: null,
      transport: 'stdio',
      protocol_version: '2025-11-25',
      session_id: null,
      args: { path: 'x' },
    });
    book.done(call, { outcome: 'ok', durationMs: 1 });
    expect(journalRecords()).toHaveLength(2);
    await vi.waitFor(() => expect(journalRecords().at(-1)).toMatchObject({ k: 'done', id: call.id, outcome: 'ok' }));
    await vi.waitFor(() => expect(runText('run-1')).toContain(call.id));
  },
);

test('a lone call is written at once; while one is in flight, all records of a turn are one write', async () => {
  const writes: number[] = [];
  const book = await open({
    write: (fd, bytes, offset, length, position) => {
      writes.push(length);
      return systemFiles.write(fd, bytes, offset, length, position);
    },
  });
  const calls = Array.from({ length: 32 }, () => book.open(subject, 'run-1', '{}'));
  const lone = book.open(subject, 'run-1', '{}');
  writes.length = 0;
  const written = book.sent(lone, connection);
  expect(writes).toHaveLength(1);
  await written;
  writes.length = 0;
  await Promise.all(calls.map((call) => book.sent(call, connection)));
  expect(writes).toHaveLength(1);
  for (const call of calls) book.done(call, { outcome: 'ok', durationMs: 1 });
  book.refused(book.open(subject, 'run-1', '{}'), { outcome: 'denied', durationMs: 0 });
  const next = book.open(subject, 'run-1', '{}');
  await book.sent(next, connection);
  expect(writes).toHaveLength(2);
  expect(journalRecords()).toHaveLength(1 + 1 + 32 + 32 + 1 + 1);
});

test('short writes are carried on until everything is written', async () => {
  const book = await open({
    write: (fd, bytes, offset, length, position) => systemFiles.write(fd, bytes, offset, Math.min(length, 7), position),
  });
  const call = book.open(subject, 'run-1', '{"text":"größer 漢字 😀"}');
  await book.sent(call, connection);
  expect(journalRecords().at(-1)).toMatchObject({ k: 'sent', args: { text: 'größer 漢字 😀' } });
});

test(
  verifies(
    'ledger:redaction',
    'a refused call is on the ledger without a connection; unknown names and errors are redacted',
  ),
  async () => {
    const book = await open();
    const unknown = ledgerSubject({
      agent: 'child',
      chain: ['child', 'parent'],
      server: null,
      tool: 'get hunter2',
      decision: 'deny',
    });
    const call = book.open(unknown, 'run-1', '{"q":"hunter2"}');
    book.refused(call, { outcome: 'unknown_tool', durationMs: Number.NaN, error: 'no tool "hunter2"\nat all' });
    book.refused(call, { outcome: 'denied', durationMs: 0 });
    await book.flush();
    expect(runLines('run-1')).toEqual([
      {
        ts: call.ts,
        server: null,
        tool: 'get [redacted]',
        args: { q: '[redacted]' },
        status: 'error',
        outcome: 'unknown_tool',
        duration_ms: null,
        error: 'no tool "[redacted]"\nat all',
        agent: 'child',
        chain: ['child', 'parent'],
        call_id: call.id,
        run_id: 'run-1',
        transport: null,
        protocol_version: null,
        session_id: null,
        http_status: null,
        retries: null,
        decision: 'deny',
        rule: null,
        rule_source: null,
      },
    ]);
    expect(JSON.stringify(journalRecords())).not.toContain('hunter2');
  },
);

test('an error line always says something, and rate limits say "rate limit"', async () => {
  const book = await open();
  const ends = [
    { outcome: 'rate_limited', durationMs: 0, error: 'Rate limit of 5 a minute' },
    { outcome: 'rate_limited', durationMs: 0, error: 'over the rate limit' },
    { outcome: 'throttled', durationMs: 0 },
    { outcome: 'timeout', durationMs: 0 },
    { outcome: 'tool_error', durationMs: 0, error: 'x'.repeat(10_000) },
  ] as const;
  for (const end of ends) book.refused(book.open(subject, 'run-1', '{}'), end);
  await book.flush();
  const errors = runLines('run-1').map((line) => String(line.error));
  expect(errors[0]).toBe('rate limit: Rate limit of 5 a minute');
  expect(errors[1]).toBe('over the rate limit');
  expect(errors[2]).toContain('rate limit');
  expect(errors[3]).toContain('did not answer in time');
  expect(errors[4]).toHaveLength(4001);
});

test('files and folders are for the owner only; a clean life leaves no journal behind', async () => {
  const book = await open();
  const call = book.open(subject, 'run-1', '{}');
  await book.sent(call, connection);
  book.done(call, { outcome: 'ok', durationMs: 1 });
  await book.flush();
  const modes = ['state/journal', '.runs/agents/run-1', '.runs/agents/run-1/mcp_calls.jsonl', journalFiles()[0]];
  expect(modes.map((path) => statSync(join(workspace, path ?? '')).mode & 0o777)).toEqual([0o700, 0o700, 0o600, 0o600]);
  await book.close();
  await book.close();
  expect(journalFiles()).toEqual([]);
});

test('after close nothing is taken', async () => {
  const book = await open();
  const call = book.open(subject, 'run-1', '{}');
  await book.close();
  await expect(book.sent(call, connection)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  book.refused(call, { outcome: 'unavailable', durationMs: 0 });
  await book.flush();
  expect(() => runText('run-1')).toThrow();
});

test('a call still open at close reads as interrupted after the next start, in the same process too', async () => {
  const book = await open();
  const call = book.open(subject, 'run-1', '{"n":98765432109876543210}');
  const sent = book.sent(call, connection);
  await book.close();
  await sent;
  ledger = undefined;
  await open();
  expect(runText('run-1')).toContain('"args":{"n":98765432109876543210}');
  const error = expect.stringContaining('may have run');
  expect(runLines('run-1')).toMatchObject([
    { call_id: call.id, status: 'error', outcome: 'interrupted', duration_ms: null, error },
  ]);
});

test(
  verifies('journal:rotation', 'rotation: a file goes when nothing in it is open and the run file has its calls'),
  async () => {
    const create = vi.fn(systemFiles.create);
    const book = await open({ create }, 2000);
    const long = book.open(subject, 'run-1', '{"long":true}');
    await book.sent(long, connection);
    const first = journalFiles();
    for (let count = 0; count < 40; count++) {
      const call = book.open(subject, 'run-2', `{"count":${count}}`);
      await book.sent(call, connection);
      book.done(call, { outcome: 'ok', durationMs: 1 });
    }
    expect(create.mock.calls.length).toBeGreaterThan(4);
    await book.flush();
    // The one with the open call, and the current one.
    expect(journalFiles()).toHaveLength(2);
    expect(journalFiles()[0]).toBe(first[0]);
    book.done(long, { outcome: 'ok', durationMs: 1 });
    await book.flush();
    expect(journalFiles()).toHaveLength(1);
    expect(journalFiles()).not.toContain(first[0]);
    expect(runLines('run-1')).toHaveLength(1);
    expect(runLines('run-2').map((line) => line.args)).toEqual(Array.from({ length: 40 }, (_, count) => ({ count })));
  },
);

test('a rotation that fails leaves the old file in use', async () => {
  let creations = 0;
  const create: LedgerFiles['create'] = (folder, name) => {
    creations++;
    if (creations > 1 && creations < 4) throw Object.assign(new Error('too many files'), { code: 'EMFILE' });
    return systemFiles.create(folder, name);
  };
  const book = await open({ create }, 1000);
  for (let count = 0; count < 12; count++) {
    const call = book.open(subject, 'run-1', `{"count":${count}}`);
    await book.sent(call, connection);
    book.done(call, { outcome: 'ok', durationMs: 1 });
  }
  await book.flush();
  expect(creations).toBeGreaterThan(4);
  expect(runLines('run-1')).toHaveLength(12);
});

async function open(files: Partial<LedgerFiles> = {}, rotateBytes = 1_000_000): Promise<Ledger> {
  ledger = await openLedger(
    {
      clock: createSystemClock(),
      logger: createSilentLogger(),
      random: systemRandom,
      redact: { json: hush, message: hush },
      files,
    },
    { ...placesIn(workspace), sync: 'os', rotateBytes },
  );
  return ledger;
}

/** Files that are not sealed. */
function journalFiles(): string[] {
  const folder = 'state/journal';
  return readdirSync(join(workspace, folder))
    .filter((file) => !file.endsWith('.sealed'))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .map((file) => join(folder, file));
}

function journalRecords(): Record<string, unknown>[] {
  const records = journalFiles().flatMap((file) => parseLines(readFileSync(join(workspace, file), 'utf8')));
  return records.filter(({ k }) => k !== 'chain');
}

function runText(run: string): string {
  return readFileSync(join(workspace, '.runs/agents', run, 'mcp_calls.jsonl'), 'utf8');
}

function runLines(run: string): Record<string, unknown>[] {
  return parseLines(runText(run));
}

function parseLines(text: string): Record<string, unknown>[] {
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
