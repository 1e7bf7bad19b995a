import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, createSystemClock, HubError } from '../base/index.ts';
import { runIdPattern } from '../domain/index.ts';
import { type CallLine, parseCallLine } from './call-line.ts';
import { runLine } from './call-text.ts';
import { interruptedParts } from './end-text.ts';
import type { JournalName } from './journal-name.ts';
import { pairCalls } from './journal-reader.ts';
import { isMissing, readLineChunks } from './line-chunks.ts';
import { journalFolder, runFile, runsFolder } from './places.ts';
import { isHeld, journalLives } from './recovery.ts';

export interface ReadCallsOptions {
  readonly run?: string;
  /** The calls that ended last; without it, all. */
  readonly limit?: number;
}

/** Calls that have ended, merged over runs by their start, newest last. */
export async function readCalls(workspace: string, options: ReadCallsOptions = {}): Promise<CallLine[]> {
  const { run, limit } = options;
  const calls: CallLine[] = [];
  for (const name of await runNames(workspace, run)) {
    const path = runFile(workspace, name);
    const from = limit === undefined ? 0 : await tailStart(path, limit);
    for await (const { lines } of readLineChunks(path, from)) {
      for (const line of lines) {
        const call = parseCallLine(line);
        if (call !== undefined) calls.push(call);
      }
    }
  }
  calls.sort(byStart);
  return limit === undefined ? calls : calls.slice(Math.max(0, calls.length - limit));
}

/** Calls that living hubs have sent and that have no end yet. */
export async function readOpenCalls(workspace: string, clock: Clock = createSystemClock()): Promise<CallLine[]> {
  const folder = journalFolder(workspace);
  const calls: CallLine[] = [];
  for (const life of await journalLives(folder)) {
    const sources = life.filter((name) => name.holder === 'writer');
    if (sources.length === 0 || !(await isHeldNow(sources))) continue;
    const { open } = await pairCalls(
      sources.map((name) => ({ path: join(folder, name.file) })),
      () => {},
    );
    for (const { parts, connection } of open.values()) {
      const line = parseCallLine(runLine(parts, connection, interruptedParts()));
      if (line !== undefined) calls.push({ ...line, status: 'open', outcome: 'open', error: null });
    }
  }
  return calls.sort(byStart);

  async function isHeldNow(life: readonly JournalName[]): Promise<boolean> {
    try {
      return await isHeld({ clock }, folder, life);
    } catch (error) {
      // Its hub ended in the meantime and took the file along.
      if (isMissing(error)) return false;
      throw error;
    }
  }
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
    handle = await open(path, 'r');
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
