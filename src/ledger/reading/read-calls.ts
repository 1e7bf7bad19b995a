import { type FileHandle, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, createSystemClock, errnoOf, HubError } from '../../base/index.ts';
import { runIdPattern } from '../../domain/index.ts';
import type { JournalName } from '../journal/journal-name.ts';
import { pairCalls, type RecordedStart } from '../journal/journal-reader.ts';
import { isMissing, openRegularFile, readLineChunks } from '../journal/line-chunks.ts';
import { isInUse, journalLives } from '../journal/recovery.ts';
import { journalFolder, type LedgerPlaces, runFile, runsFolder } from '../places.ts';
import { type CallLine, parseCallLine } from '../records/call-line.ts';
import { runLine } from '../records/call-text.ts';
import { interruptedParts } from '../records/end-text.ts';
import { readCallIds } from '../runs/run-file.ts';

export interface ReadCallsOptions {
  readonly run?: string;
  /** At most this many calls, the newest. Default: all. */
  readonly limit?: number;
  /** Only calls that came in at this time or later, in milliseconds since the epoch. */
  readonly since?: number;
  /** Only calls for which this returns true. */
  readonly where?: (call: CallLine) => boolean;
}

/** A call with its line as written: parsing and printing it again would change large integers. */
export interface RecordedCall {
  readonly call: CallLine;
  readonly text: string;
}

/** Ended calls of all runs, sorted by their start, newest last. */
export async function readCalls(workspace: string, options: ReadCallsOptions = {}): Promise<CallLine[]> {
  return (await readRecordedCalls(workspace, options)).map(({ call }) => call);
}

export async function readRecordedCalls(workspace: string, options: ReadCallsOptions = {}): Promise<RecordedCall[]> {
  const { run, limit = Infinity } = options;
  let calls: RecordedCall[] = [];
  for (const name of await runNames(workspace, run)) {
    const path = runFile(workspace, name);
    await unlessUnreadable(path, run, undefined, async () => {
      for await (const found of findCalls(path, options)) {
        calls.push(...found);
        if (calls.length > 2 * limit + 1000) calls = newest(calls, limit);
      }
    });
  }
  return newest(calls, limit);
}

/** An unreadable run file does not hide other runs. If that run was requested, it is an error. */
export async function unlessUnreadable<T>(
  path: string,
  run: string | undefined,
  otherwise: T,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (run === undefined && errnoOf(error) !== undefined) return otherwise;
    throw unreadable(path, 'a file', error);
  }
}

function unreadable(path: string, wanted: string, error: unknown): unknown {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  return new HubError('LEDGER_UNAVAILABLE', `${path} cannot be read (${errno}).`, {
    hint: `It should be ${wanted} that you may read.`,
    cause: error,
  });
}

/** Yields the matching calls of one file. */
async function* findCalls(path: string, options: ReadCallsOptions): AsyncGenerator<RecordedCall[]> {
  const { limit = Infinity, since, where } = options;
  if (since !== undefined && (await changedAt(path)) < since) return;
  const picky = since !== undefined || where !== undefined;
  const from = limit === Infinity || picky ? 0 : await tailStart(path, limit);
  for await (const { lines } of readLineChunks(path, from)) {
    const found: RecordedCall[] = [];
    for (const text of lines) {
      const call = parseCallLine(text);
      if (call !== undefined && isWanted(call, options)) found.push({ call, text });
    }
    yield found;
  }
}

function isWanted(call: CallLine, { since, where }: ReadCallsOptions): boolean {
  return (since === undefined || Date.parse(call.ts) >= since) && (where === undefined || where(call));
}

function newest(calls: RecordedCall[], limit: number): RecordedCall[] {
  calls.sort((a, b) => byStart(a.call, b.call));
  return calls.slice(Math.max(0, calls.length - limit));
}

/** A file contains no call that ended after its last change. */
async function changedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return -Infinity;
    throw error;
  }
}

/** Calls of living hubs that are sent or held and have no end yet. */
export async function readOpenCalls(places: LedgerPlaces, clock: Clock = createSystemClock()): Promise<CallLine[]> {
  return (await readRecordedOpenCalls(places, clock)).map(({ call }) => call);
}

export async function readRecordedOpenCalls(places: LedgerPlaces, clock: Clock): Promise<RecordedCall[]> {
  const folder = journalFolder(places);
  const calls: RecordedCall[] = [];
  for (const life of await journalLives(folder)) {
    const sources = life.filter((name) => name.holder === 'writer');
    if (sources.length === 0 || !(await isInUseNow(clock, folder, sources))) continue;
    const { open, held } = await pairCalls(
      sources.map((name) => ({ path: join(folder, name.file) })),
      () => {},
    );
    const found = [
      ...[...open.values()].flatMap((start) => openCall(start, 'open')),
      ...[...held.values()].flatMap((start) => openCall(start, 'held')),
    ];
    calls.push(...(hasGap(sources) ? await withoutEnded(places.workspace, found) : found));
  }
  return newest(calls, Infinity);
}

/** A file between the others was removed because all calls in it had ended. */
function hasGap(sources: readonly JournalName[]): boolean {
  const [first, last] = [sources[0]?.number ?? 0, sources.at(-1)?.number ?? 0];
  return last - first >= sources.length;
}

/** A call may begin in a file that another call keeps, and end in one that was removed: then its run file has it. */
async function withoutEnded(workspace: string, calls: readonly RecordedCall[]): Promise<RecordedCall[]> {
  const ended = new Map<string, ReadonlySet<string>>();
  for (const { call } of calls) {
    const run = call.run_id;
    if (!ended.has(run)) ended.set(run, await readCallIds(runFile(workspace, run)));
  }
  return calls.filter(({ call }) => ended.get(call.run_id)?.has(call.call_id) !== true);
}

/** Whether a hub died and left calls that no run file has yet. The next hub to start adds them. */
export async function hasUnsettledCalls(places: LedgerPlaces, clock: Clock): Promise<boolean> {
  const folder = journalFolder(places);
  for (const life of await journalLives(folder)) if (!(await isInUseNow(clock, folder, life, true))) return true;
  return false;
}

async function isInUseNow(
  clock: Clock,
  folder: string,
  life: readonly JournalName[],
  whenGone = false,
): Promise<boolean> {
  try {
    return await isInUse({ clock }, folder, life);
  } catch (error) {
    // Its hub stopped meanwhile and removed the file.
    if (isMissing(error)) return whenGone;
    throw error;
  }
}

function openCall({ parts, connection }: RecordedStart, outcome: 'open' | 'held'): RecordedCall[] {
  const line = parseCallLine(runLine(parts, connection, interruptedParts()));
  if (line === undefined) return [];
  const call: CallLine = { ...line, status: 'open', outcome, error: null };
  // This text cannot occur before the arguments, because quotes inside strings are escaped.
  const { args_length: _length, args_sha256: _sha256, ...rest } = call;
  const text = JSON.stringify({ ...rest, args: null }).replace('"args":null', () => `"args":${parts.args}`);
  return [{ call, text }];
}

/** The requested run, or all runs that have a folder. */
export async function runNames(workspace: string, run: string | undefined): Promise<string[]> {
  if (run !== undefined) {
    if (runIdPattern.test(run)) return [run];
    throw new HubError('USAGE', `"${run}" is not a run id.`, { hint: 'Use letters, digits, _ and -, at most 64.' });
  }
  try {
    const entries = await readdir(runsFolder(workspace), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (isMissing(error)) return [];
    throw unreadable(runsFolder(workspace), 'a folder', error);
  }
}

/** The position where the last `count` complete lines of a file begin. */
export async function tailStart(path: string, count: number): Promise<number> {
  let handle: FileHandle;
  try {
    handle = await openRegularFile(path);
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
  try {
    let end = (await handle.stat()).size;
    let newlines = 0;
    while (end > 0) {
      const begin = Math.max(0, end - stepBytes);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - begin), 0, end - begin, begin);
      for (let at = bytesRead - 1; at >= 0; at--) {
        if (buffer[at] !== 10) continue;
        newlines++;
        if (newlines > count) return begin + at + 1;
      }
      end = begin;
    }
    return 0;
  } finally {
    await handle.close();
  }
}

const stepBytes = 64 * 1024;

function byStart(a: CallLine, b: CallLine): number {
  return a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : 0;
}
