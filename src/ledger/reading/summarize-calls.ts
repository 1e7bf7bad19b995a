import { realpath, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { errnoOf } from '../../base/index.ts';
import { isMissing, readLineChunks } from '../journal/line-chunks.ts';
import { runFile } from '../places.ts';
import { parseCallLine } from '../records/call-line.ts';
import { CallCounter, type CallStatistics } from './call-statistics.ts';
import { runNames } from './read-calls.ts';

export interface SummarizeOptions {
  /** Only this run. Default: all runs. */
  readonly run?: string;
}

/** Computes the statistics of the calls in the run files in a single pass. */
export async function summarizeCalls(workspace: string, options: SummarizeOptions = {}): Promise<CallStatistics> {
  const roots = [...new Set([workspace, await realpath(workspace)])];
  const counter = new CallCounter(roots);
  const unreadableFiles: string[] = [];
  let [runs, unreadableLines] = [0, 0];
  for (const name of (await runNames(workspace, options.run)).sort()) {
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
  return counter.result({ runs, unreadable_lines: unreadableLines, unreadable_files: unreadableFiles });
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
        if (counter.add(call)) calls++;
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
