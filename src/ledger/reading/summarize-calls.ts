import { realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { errnoOf } from '../../base/index.ts';
import type { JournalName } from '../journal/journal-name.ts';
import { isMissing, readLineChunks } from '../journal/line-chunks.ts';
import { journalSegments, segmentLines } from '../journal/segments.ts';
import { journalFolder, type LedgerPlaces, runFile } from '../places.ts';
import { parseCallLine } from '../records/call-line.ts';
import { CallCounter, type CallStatistics } from './call-statistics.ts';
import { hasRecordedCalls } from './journal-calls.ts';
import { createJournalTally } from './journal-tally.ts';
import { checkRunId } from './read-calls.ts';
import { runNames } from './run-copies.ts';

export interface SummarizeOptions {
  /** Only this run. Default: all runs. */
  readonly run?: string;
  /** The bytes read so far, of all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Computes the statistics of the calls in the journal, or in the run files if there is none, in a single pass. */
export async function summarizeCalls(places: LedgerPlaces, options: SummarizeOptions = {}): Promise<CallStatistics> {
  checkRunId(options.run);
  const { workspace } = places;
  const roots = [...new Set([workspace, await realpath(workspace)])];
  const counter = new CallCounter(roots);
  const isJournal = await hasRecordedCalls(journalFolder(places));
  const read = isJournal
    ? await countJournal(places, options, counter)
    : await countCopies(workspace, options, counter);
  return counter.result(read);
}

type Read = Pick<CallStatistics, 'runs' | 'unreadable_lines' | 'unreadable_files'>;

async function countJournal(
  places: LedgerPlaces,
  { run, onProgress }: SummarizeOptions,
  counter: CallCounter,
): Promise<Read> {
  const folder = journalFolder(places);
  const lives = await journalSegments(folder);
  const total = onProgress === undefined ? 0 : await bytesOf(folder, lives);
  const tally = createJournalTally(counter, run);
  let done = 0;
  for (const life of lives) {
    for (const name of life) {
      let before = 0;
      for await (const { lines, end } of segmentLines(folder, name)) {
        tally.add(lines);
        done += end - before;
        before = end;
        onProgress?.(done, total);
      }
    }
    tally.endLife();
  }
  return { ...tally.result(), unreadable_files: [] };
}

async function bytesOf(folder: string, lives: readonly (readonly JournalName[])[]): Promise<number> {
  const sizes = await Promise.all(lives.flat().map(({ file }) => sizeOf(join(folder, file))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function countCopies(workspace: string, { run }: SummarizeOptions, counter: CallCounter): Promise<Read> {
  const unreadableFiles: string[] = [];
  let [runs, unreadableLines] = [0, 0];
  for (const name of (await runNames(workspace, run)).sort()) {
    const path = runFile(workspace, name);
    try {
      const { calls, unreadable } = await countFile(path, counter);
      if (calls > 0) runs++;
      unreadableLines += unreadable;
    } catch (error) {
      // A folder of that name, or a file of another user: the other runs still count.
      if (errnoOf(error) === undefined) throw error;
      if (unreadableFiles.length < maxUnreadableFiles) unreadableFiles.push(relative(workspace, path));
    }
  }
  return { runs, unreadable_lines: unreadableLines, unreadable_files: unreadableFiles };
}

const maxUnreadableFiles = 20;

async function countFile(path: string, counter: CallCounter): Promise<{ calls: number; unreadable: number }> {
  let [calls, unreadable, read] = [0, 0, 0];
  const size = await sizeOf(path);
  for await (const { lines, end } of readLineChunks(path, 0, size)) {
    read = end;
    for (const line of lines) {
      const call = parseCallLine(line);
      if (call !== undefined) {
        if (counter.addLine(call)) calls++;
      } else if (line.trim() !== '') unreadable++;
    }
  }
  // Bytes after the last newline are a torn line.
  return { calls, unreadable: read < size ? unreadable + 1 : unreadable };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
