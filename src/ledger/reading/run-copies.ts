import { type FileHandle, readdir, stat } from 'node:fs/promises';
import { errnoOf, HubError } from '../../base/index.ts';
import { runIdPattern } from '../../domain/index.ts';
import { isMissing, openRegularFile, readLineChunks } from '../journal/line-chunks.ts';
import { runFile, runsFolder } from '../places.ts';
import { parseCallLine } from '../records/call-line.ts';
import { isWantedCall, newestCalls, type ReadCallsOptions, type RecordedCall } from './recorded-call.ts';

/** The calls in the run files, which agents with a file tool can change. */
export async function readCopiedCalls(workspace: string, options: ReadCallsOptions): Promise<RecordedCall[]> {
  const { run, limit = Infinity } = options;
  let calls: RecordedCall[] = [];
  for (const name of await runNames(workspace, run)) {
    const path = runFile(workspace, name);
    await unlessUnreadable(path, run, async () => {
      for await (const found of findCalls(path, options)) {
        calls.push(...found);
        if (calls.length > 2 * limit + 1000) calls = newestCalls(calls, limit);
      }
    });
  }
  return newestCalls(calls, limit);
}

/** An unreadable run file does not hide other runs. If that run was requested, it is an error. */
async function unlessUnreadable(path: string, run: string | undefined, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (run === undefined && errnoOf(error) !== undefined) return;
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
      if (call !== undefined && isWantedCall(call, options)) found.push({ call, text });
    }
    yield found;
  }
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
async function tailStart(path: string, count: number): Promise<number> {
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
