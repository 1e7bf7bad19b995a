import { readFileSync } from 'node:fs';

/** A process life: a pid alone would be somebody else's tomorrow. */
export interface Owner {
  readonly pid: number;
  /** In clock ticks since boot; null where the platform does not tell. */
  readonly start: number | null;
}

export function thisProcess(): Owner {
  return { pid: process.pid, start: startTime(process.pid) };
}

export function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM' && sameStart(owner);
  }
  return sameStart(owner);
}

function sameStart(owner: Owner): boolean {
  if (owner.start === null) return true;
  const start = startTime(owner.pid);
  return start === null || start === owner.start;
}

/** Field 22 of /proc/<pid>/stat. The second field may hold spaces and parentheses, so count from its end. */
function startTime(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const start = Number(fields[19]);
    // A zombie has ended already; only its parent has not looked yet.
    return fields[0] === 'Z' || !Number.isFinite(start) ? -1 : start;
  } catch {
    return null;
  }
}
