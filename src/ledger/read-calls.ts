import { type FileHandle, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, createSystemClock, errnoOf, HubError } from '../base/index.ts';
import { runIdPattern } from '../domain/index.ts';
import { type CallLine, parseCallLine } from './call-line.ts';
import { runLine } from './call-text.ts';
import { interruptedParts } from './end-text.ts';
import type { JournalName } from './journal-name.ts';
import { pairCalls } from './journal-reader.ts';
import { isMissing, openRegularFile, readLineChunks } from './line-chunks.ts';
import { journalFolder, runFile, runsFolder } from './places.ts';
import { isHeld, journalLives } from './recovery.ts';

export interface ReadCallsOptions {
  readonly run?: string;
  /** The calls that ended last; without it, all. */
  readonly limit?: number;
  /** Only calls that came in at this time or later, in milliseconds since the epoch. */
  readonly since?: number;
  /** Only calls for which it answers true. */
  readonly where?: (call: CallLine) => boolean;
}

/** A call with its line as it was written: reading and printing it again would change large integers. */
export interface RecordedCall {
  readonly call: CallLine;
  readonly text: string;
}

/** Calls that have ended, merged over runs by their start, newest last. */
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

/** Somebody else's file, or a folder of that name, hides no other run; where it was asked for itself, it is told. */
export async function unlessUnreadable<T>(
  path: string,
  run: string | undefined,
  otherwise: T,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    if (run === undefined) return otherwise;
    throw new HubError('LEDGER_UNAVAILABLE', `${path} cannot be read (${errno}).`, {
      hint: 'It should be a file that you may read.',
      cause: error,
    });
  }
}

/** The calls of one file that are wanted, as they are found. */
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

/** Nothing that ended after a file's last change is in it. */
async function changedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return -Infinity;
    throw error;
  }
}

/** Calls that living hubs have sent and that have no end yet. */
export async function readOpenCalls(workspace: string, clock: Clock = createSystemClock()): Promise<CallLine[]> {
  return (await readRecordedOpenCalls(workspace, clock)).map(({ call }) => call);
}

export async function readRecordedOpenCalls(workspace: string, clock: Clock): Promise<RecordedCall[]> {
  const folder = journalFolder(workspace);
  const calls: RecordedCall[] = [];
  for (const life of await journalLives(folder)) {
    const sources = life.filter((name) => name.holder === 'writer');
    if (sources.length === 0 || !(await isHeldNow(clock, folder, sources))) continue;
    const { open } = await pairCalls(
      sources.map((name) => ({ path: join(folder, name.file) })),
      () => {},
    );
    for (const { parts, connection } of open.values()) {
      const line = parseCallLine(runLine(parts, connection, interruptedParts()));
      if (line !== undefined) calls.push(openCall(line, parts.args));
    }
  }
  return newest(calls, Infinity);
}

/** Whether a hub died and left calls that no run file has yet; the next one to start adds them. */
export async function hasUnsettledCalls(workspace: string, clock: Clock): Promise<boolean> {
  const folder = journalFolder(workspace);
  for (const life of await journalLives(folder)) if (!(await isHeldNow(clock, folder, life, true))) return true;
  return false;
}

async function isHeldNow(
  clock: Clock,
  folder: string,
  life: readonly JournalName[],
  whenGone = false,
): Promise<boolean> {
  try {
    return await isHeld({ clock }, folder, life);
  } catch (error) {
    // Its hub ended in the meantime and took the file along.
    if (isMissing(error)) return whenGone;
    throw error;
  }
}

function openCall(line: CallLine, args: string): RecordedCall {
  const call: CallLine = { ...line, status: 'open', outcome: 'open', error: null };
  // Before the arguments this text cannot occur: inside strings quotes are escaped.
  const { args_length: _length, args_sha256: _sha256, ...rest } = call;
  const text = JSON.stringify({ ...rest, args: null }).replace('"args":null', () => `"args":${args}`);
  return { call, text };
}

/** The one run that was asked for, or all that have a folder. */
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
    throw error;
  }
}

/** Where the last `count` whole lines of a file begin. */
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
