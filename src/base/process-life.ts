import { readFileSync } from 'node:fs';
import { errnoOf } from './errno.ts';

/** A process as /proc describes it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Clock ticks since the machine booted. */
  readonly start: number;
  /** The process is a zombie: it exited, and its parent has not collected it. */
  readonly ended: boolean;
}

/** Identifies one process. A pid alone is not enough, because the system reuses it. */
export interface ProcessLife {
  readonly pid: number;
  /** Clock ticks since the machine booted. Undefined where the system does not report it. */
  readonly start: number | undefined;
}

/** Undefined if the process does not exist or is hidden, and on systems without /proc (macOS). */
export function readProcess(pid: number): ProcessRow | undefined {
  const text = readStat(pid);
  if (text === undefined) return undefined;
  // The command name is in parentheses and may contain anything, including parentheses and spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, threads, start] = [fields[0], Number(fields[17]), Number(fields[19])];
  if (!Number.isFinite(start)) return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    start,
    // The first thread may have exited while another one still finishes a write.
    ended: (state === 'Z' || state === 'X') && threads <= 1,
  };
}

export function thisProcess(): ProcessLife {
  return { pid: process.pid, start: readProcess(process.pid)?.start };
}

/** When in doubt, the process counts as alive. */
export function isAlive(life: ProcessLife): boolean {
  if (!answersSignals(life.pid)) return false;
  const row = readProcess(life.pid);
  if (row === undefined) return true;
  return !row.ended && (life.start === undefined || life.start === row.start);
}

/** Also true for a process that exited and was not collected yet. */
export function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return errnoOf(error) === 'EPERM';
  }
}

/** A process may exit while it is being read. That is not a failure. */
function readStat(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
}

/**
 * The environment variable that names a child's hub. Descendants inherit it, so the hub can find those that left the
 * process group, and the next start knows which hub they belonged to.
 */
export const cookieName = 'QUARTERMASTER_CHILD';
