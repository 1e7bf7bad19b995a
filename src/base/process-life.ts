import { readFileSync } from 'node:fs';
import { errnoOf } from './errno.ts';

/** What /proc tells of a process. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Clock ticks since the machine's boot. */
  readonly start: number;
  /** Over, and waiting for its parent to ask how. */
  readonly ended: boolean;
}

/** One life of one process: a pid alone is given again to others. */
export interface ProcessLife {
  readonly pid: number;
  /** Clock ticks since the machine's boot; undefined where the system does not tell. */
  readonly start: number | undefined;
}

/** Undefined where there is no such process, where it is hidden, and where there is no /proc (macOS). */
export function readProcess(pid: number): ProcessRow | undefined {
  const text = readStat(pid);
  if (text === undefined) return undefined;
  // The command's name is in parentheses and may hold anything, parentheses and spaces too.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, threads, start] = [fields[0], Number(fields[17]), Number(fields[19])];
  if (!Number.isFinite(start)) return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    start,
    // The first thread may be gone while another still finishes a write.
    ended: (state === 'Z' || state === 'X') && threads <= 1,
  };
}

export function thisProcess(): ProcessLife {
  return { pid: process.pid, start: readProcess(process.pid)?.start };
}

/** In doubt yes: what cannot be told apart is treated as alive. */
export function isAlive(life: ProcessLife): boolean {
  if (!answersSignals(life.pid)) return false;
  const row = readProcess(life.pid);
  if (row === undefined) return true;
  return !row.ended && (life.start === undefined || life.start === row.start);
}

/** True for a process that ended and was not collected yet, too. */
export function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return errnoOf(error) === 'EPERM';
  }
}

/** Processes end while they are looked at; that is no failure. */
function readStat(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
}

/**
 * The environment variable that names a child's hub. Descendants inherit it, so it finds those that
 * left the process group, and tells at the next start whose they were.
 */
export const cookieName = 'QUARTERMASTER_CHILD';
