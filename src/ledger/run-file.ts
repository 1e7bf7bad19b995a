import { closeSync, fstatSync, ftruncateSync, readSync } from 'node:fs';
import { type Clock, ensureGuardedFolder, type GuardedFolder, openGuardedFolder, sleep } from '../base/index.ts';
import type { LedgerFiles } from './ledger-files.ts';
import { isMissing, readLineChunks } from './line-chunks.ts';
import { runFileName, runsPlace } from './places.ts';

/** The folder of all runs, made where it is missing. Whoever opens it closes it. */
export function openRunsFolder(workspace: string): GuardedFolder {
  return ensureGuardedFolder(workspace, runsPlace);
}

/** Throws where the run files could not be written without leaving the workspace. */
export function checkRunsFolder(workspace: string): void {
  openGuardedFolder(workspace, runsPlace)?.close();
}

/**
 * Adds whole lines, or throws. One write for all of them: with O_APPEND other processes may add to the same run.
 * Synchronous like the journal and for the same reason; it happens once for many lines.
 */
export function appendRunLines(files: LedgerFiles, runs: GuardedFolder, run: string, lines: Buffer): void {
  const folder = runs.ensureChild(run);
  try {
    const fd = folder.open(runFileName, 'append');
    try {
      expectWholeLine(fd);
      files.append(fd, lines);
      // Deleted between opening and writing: nobody will ever read these lines.
      if (fstatSync(fd).nlink === 0) throw new Error('it was deleted meanwhile');
    } finally {
      closeSync(fd);
    }
  } finally {
    folder.close();
  }
}

function expectWholeLine(fd: number): void {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  if (size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== newline) {
    throw new Error('its last line is torn');
  }
}

/** Takes away a last line without its end, which a crash or a full disk left. */
export async function cutTornLine(clock: Clock, workspace: string, run: string): Promise<void> {
  const fd = openToCut(workspace, run);
  if (fd === undefined) return;
  try {
    let { size } = fstatSync(fd);
    let whole = wholeLines(fd, size);
    while (whole !== size) {
      // It may be another process's write that is still growing: only a length that stands still is torn.
      await sleep(clock, settleMs);
      const now = fstatSync(fd).size;
      if (now === size) return ftruncateSync(fd, whole);
      size = now;
      whole = wholeLines(fd, size);
    }
  } finally {
    closeSync(fd);
  }
}

function openToCut(workspace: string, run: string): number | undefined {
  const folder = openGuardedFolder(workspace, [...runsPlace, run]);
  try {
    return folder?.open(runFileName, 'update');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  } finally {
    folder?.close();
  }
}

/** The calls that a run file has already. */
export async function readCallIds(path: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { lines } of readLineChunks(path)) {
    for (const line of lines) {
      const id = callIdOf(line);
      // A copy: a slice would keep the text of the whole chunk in memory.
      if (id !== undefined) ids.add(Buffer.from(id, 'latin1').toString('latin1'));
    }
  }
  return ids;
}

const newline = 10;
const settleMs = 25;
const stepBytes = 64 * 1024;

/** How many bytes of the file are whole lines. */
function wholeLines(fd: number, size: number): number {
  let end = size;
  while (end > 0) {
    const begin = Math.max(0, end - stepBytes);
    const step = Buffer.alloc(end - begin);
    const bytesRead = readSync(fd, step, 0, step.length, begin);
    const at = step.subarray(0, bytesRead).lastIndexOf(newline);
    if (at >= 0) return begin + at + 1;
    end = begin;
  }
  return 0;
}

/** The last member of that name is ours: arguments may have one too, but they stand before it. */
function callIdOf(line: string): string | undefined {
  const at = line.lastIndexOf(callIdMember);
  if (at < 0) return undefined;
  const begin = at + callIdMember.length;
  return line.slice(begin, line.indexOf('"', begin));
}

const callIdMember = ',"call_id":"';
