import { closeSync, fchmodSync, fstatSync, ftruncateSync, readSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Clock,
  ensureGuardedFolder,
  errnoOf,
  type GuardedFolder,
  openGuardedFolder,
  sleep,
  unsafePlace,
} from '../../base/index.ts';
import type { LedgerFiles } from '../journal/file-operations.ts';
import { isMissing, readLineChunks } from '../journal/line-chunks.ts';
import { isRunFileName, runFileName, runsPlace } from '../places.ts';

/** Opens the folder of all runs and creates it if missing. The caller closes it. */
export function openRunsFolder(workspace: string): GuardedFolder {
  const runs = ensureGuardedFolder(workspace, runsPlace);
  try {
    narrow(runs.fd, 0o700, runs.path);
    return runs;
  } catch (error) {
    runs.close();
    throw error;
  }
}

/** Undefined if there are no runs. The caller closes it. */
export function openRunsFolderIfThere(workspace: string): GuardedFolder | undefined {
  return openGuardedFolder(workspace, runsPlace);
}

/** The paths of a run's files: those that were put aside, oldest first, then the current one. */
export function runFilesOf(workspace: string, run: string): string[] {
  const folder = openGuardedFolder(workspace, [...runsPlace, run]);
  if (folder === undefined) return [];
  try {
    const aside = folder.list().filter((name) => isRunFileName(name) && name !== runFileName);
    return [...aside, runFileName].map((name) => join(folder.path, name));
  } finally {
    folder.close();
  }
}

/**
 * Throws if the run files cannot be written without leaving the workspace, or if other users would read them: folders that
 * came with a repository may have any mode.
 */
export function checkRunsFolder(workspace: string): void {
  for (const [index] of runsPlace.entries()) {
    const folder = openGuardedFolder(workspace, runsPlace.slice(0, index + 1));
    if (folder === undefined) return;
    try {
      narrow(folder.fd, 0o700, folder.path);
    } finally {
      folder.close();
    }
  }
}

function narrow(fd: number, mode: number, path: string): void {
  if (!othersMayUse(fd)) return;
  try {
    fchmodSync(fd, mode);
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') throw error;
  }
  // Some file systems have no modes of their own.
  if (!othersMayUse(fd)) return;
  throw unsafePlace(path, 'can be read by other users', 'Move it away; the hub creates it again.');
}

function othersMayUse(fd: number): boolean {
  return (fstatSync(fd).mode & 0o077) !== 0;
}

/**
 * Appends complete lines, or throws. One write for all of them: with O_APPEND other
 * processes may append to the same run.
 * Synchronous for the same reason as the journal; it happens once for many lines.
 */
export function appendRunLines(files: LedgerFiles, runs: GuardedFolder, run: string, lines: Buffer): void {
  const folder = runs.ensureChild(run);
  try {
    const fd = folder.open(runFileName, 'append');
    try {
      narrow(fd, 0o600, join(folder.path, runFileName));
      expectWholeLine(fd);
      files.append(fd, lines);
      // Deleted between open and write: nobody would ever read these lines.
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

/** Removes an unterminated last line that a crash or a full disk left. */
export async function cutTornLine(clock: Clock, workspace: string, run: string): Promise<void> {
  const fd = openToCut(workspace, run);
  if (fd === undefined) return;
  try {
    let { size } = fstatSync(fd);
    let whole = wholeLines(fd, size);
    while (whole !== size) {
      // Another process may still be writing it: the line is torn only if the file does not grow.
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

/** The ids of the calls that the files of a run already have. */
export async function readCallIds(workspace: string, run: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const path of runFilesOf(workspace, run)) {
    for await (const { lines } of readLineChunks(path)) {
      for (const line of lines) {
        const id = callIdOf(line);
        // A copy: a slice would keep the text of the whole chunk in memory.
        if (id !== undefined) ids.add(Buffer.from(id, 'latin1').toString('latin1'));
      }
    }
  }
  return ids;
}

const newline = 10;
const settleMs = 25;
const stepBytes = 64 * 1024;

/** The number of bytes up to the end of the last complete line. */
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

/** Takes the last such member: arguments may have one too, but they come before it. */
export function callIdOf(line: string): string | undefined {
  const at = line.lastIndexOf(callIdMember);
  if (at < 0) return undefined;
  const begin = at + callIdMember.length;
  return line.slice(begin, line.indexOf('"', begin));
}

const callIdMember = ',"call_id":"';
