import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createSystemClock, type Logger, systemRandom } from '../base/index.ts';
import {
  hasUnsettledCalls,
  type Ledger,
  ledgerConnection,
  ledgerSubject,
  openLedger,
  readCalls,
  readOpenCalls,
  summarizeCalls,
} from './index.ts';
import { placesIn } from './ledger-places.fixture.ts';

const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });
const file = '.runs/agents/r1/mcp_calls.jsonl';

/** What somebody who may write in the workspace could put in the way of a run file. */
const traps: readonly [string, (workspace: string, target: string) => void][] = [
  ['a link at the run file', (workspace, target) => symlinkSync(target, made(workspace, file))],
  ['a hard link at the run file', (workspace, target) => linkSync(target, made(workspace, file))],
  ['a pipe at the run file', (workspace) => execFileSync('mkfifo', ['-m', '600', made(workspace, file)])],
  [
    'a run file that everybody can write',
    (workspace) => {
      writeFileSync(made(workspace, file), '');
      chmodSync(join(workspace, file), 0o666);
    },
  ],
  [
    "a link at the run's folder",
    (workspace, target) => symlinkSync(folderOf(target), made(workspace, '.runs/agents/r1')),
  ],
];

test.each(traps)(
  verifies('files:no-links', '%s: nothing is written there, and the records follow when it is gone'),
  async (_what, plant) => {
    const { workspace, target, events, open } = stage();
    plant(workspace, target);
    const before = readFileSync(target, 'utf8');
    const ledger = await open();
    await record(ledger, 'r1');
    await record(ledger, 'free');
    await expect(ledger.flush()).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      message: expect.stringContaining('r1'),
    });
    expect(readFileSync(target, 'utf8')).toBe(before);
    expect(readdirSync(folderOf(target))).toEqual(['mcp_calls.jsonl']);
    expect(await readCalls(placesIn(workspace), { run: 'free' })).toHaveLength(1);
    expect(ledger.runFilesBehind).toContain('r1');
    expect(events).toContain('ledger.run-file-failed');

    rmSync(join(workspace, '.runs/agents/r1'), { recursive: true });
    await ledger.flush();
    expect(await readCalls(placesIn(workspace), { run: 'r1' })).toHaveLength(1);
    expect(ledger.runFilesBehind).toBeUndefined();
  },
);

test.each(['.runs', '.runs/agents', 'state', 'state/journal'])(
  verifies('files:no-links', 'a link at %s: no ledger starts, nothing is written behind it, and the way out is told'),
  async (place) => {
    const { workspace, target, open } = stage();
    symlinkSync(folderOf(target), made(workspace, place));
    await expect(open()).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      message: expect.stringContaining(`${join(workspace, place)} is a symbolic link`),
      hint: expect.stringContaining('Remove the link'),
    });
    expect(readdirSync(folderOf(target))).toEqual(['mcp_calls.jsonl']);
  },
);

test.each(['.runs', '.runs/agents', 'state/journal'])(
  'a folder that others can write at %s is refused',
  async (place) => {
    const { workspace, open } = stage();
    mkdirSync(join(workspace, place), { recursive: true, mode: 0o700 });
    chmodSync(join(workspace, place), 0o777);
    await expect(open()).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      hint: expect.stringContaining(`chmod go-w ${join(workspace, place)}`),
    });
  },
);

test(verifies('files:private', 'folders and run files that came with a repository are made private'), async () => {
  const { workspace, open } = stage();
  const folders = ['.runs', '.runs/agents', '.runs/agents/r1'].map((place) => join(workspace, place));
  writeFileSync(made(workspace, file), '', { mode: 0o644 });
  for (const folder of folders) chmodSync(folder, 0o755);
  const modes = (): number[] => [...folders, join(workspace, file)].map((path) => statSync(path).mode & 0o777);
  const ledger = await open();
  expect(modes()).toEqual([0o700, 0o700, 0o755, 0o644]);
  await record(ledger, 'r1');
  await ledger.flush();
  expect(modes()).toEqual([0o700, 0o700, 0o755, 0o600]);
});

test('a link that comes while the hub runs takes nothing that was recorded after it', async () => {
  const { workspace, target, open } = stage();
  const before = readFileSync(target, 'utf8');
  const ledger = await open();
  await record(ledger, 'r1');
  await ledger.flush();
  rmSync(join(workspace, '.runs'), { recursive: true });
  symlinkSync(folderOf(target), join(workspace, '.runs'));
  await record(ledger, 'r1');
  await expect(ledger.flush()).rejects.toMatchObject({ hint: expect.stringContaining('Remove the link') });
  expect(readFileSync(target, 'utf8')).toBe(before);
  rmSync(join(workspace, '.runs'));
  await ledger.flush();
  // The first line was deleted with the file; the journal still had it.
  expect(await readCalls(placesIn(workspace), { run: 'r1' })).toHaveLength(2);
});

test('readers follow no link and hang on no pipe', async () => {
  const { workspace, target } = stage();
  symlinkSync(target, made(workspace, file));
  execFileSync('mkfifo', [made(workspace, '.runs/agents/r2/mcp_calls.jsonl')]);
  const journal = made(workspace, 'state/journal/20260101T000000Z-aaa.jsonl');
  execFileSync('mkfifo', [journal]);
  expect(await readCalls(placesIn(workspace))).toEqual([]);
  await expect(readCalls(placesIn(workspace), { run: 'r1' })).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  await expect(readCalls(placesIn(workspace), { run: 'r2' })).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  expect((await summarizeCalls(placesIn(workspace))).unreadable_files).toHaveLength(2);
  await expect(readOpenCalls(placesIn(workspace))).resolves.toEqual([]);
  await expect(hasUnsettledCalls(placesIn(workspace), createSystemClock())).resolves.toBe(false);
});

function stage() {
  const workspace = mkdtempSync(join(tmpdir(), 'qm-links-'));
  const elsewhere = mkdtempSync(join(tmpdir(), 'qm-elsewhere-'));
  const target = join(elsewhere, 'mcp_calls.jsonl');
  const line = { ts: '2026-01-01T00:00:00.000Z', server: 's', tool: 'secret', args: {}, status: 'ok', run_id: 'x' };
  writeFileSync(target, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  const events: string[] = [];
  const log = (event: string): void => void events.push(event);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const ledgers: Ledger[] = [];
  onTestFinished(async () => {
    for (const ledger of ledgers) await ledger.close();
    for (const folder of [workspace, elsewhere]) rmSync(folder, { recursive: true, force: true });
  });
  const same = (text: string): string => text;
  const redact = { json: same, message: same };
  const open = async (): Promise<Ledger> => {
    const ledger = await openLedger(
      { clock: createSystemClock(), logger, random: systemRandom, redact },
      { ...placesIn(workspace), sync: 'os' },
    );
    ledgers.push(ledger);
    return ledger;
  };
  return { workspace, target, events, open };
}

async function record(ledger: Ledger, run: string): Promise<void> {
  const call = ledger.open(subject, run, '{"text":"chosen by the agent"}');
  await ledger.sent(call, connection);
  ledger.done(call, { outcome: 'ok', durationMs: 1 });
}

function made(workspace: string, place: string): string {
  const path = join(workspace, place);
  if (!existsSync(join(path, '..'))) mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
  return path;
}

function folderOf(path: string): string {
  return join(path, '..');
}
