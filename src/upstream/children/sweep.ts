import { type Clock, isAlive, type ProcessRow, readProcess, sleep } from '../../base/index.ts';
import { type CookieOwner, parseCookie } from './cookie.ts';
import { hasOwnUser, listProcesses, readCookie } from './process-table.ts';

export interface SweepResult {
  readonly ended: number;
  /** False where something could not be ended. */
  readonly clean: boolean;
}

interface SweepLimits {
  /** Start time of the oldest process that can carry the cookie. */
  readonly since?: number;
  readonly spare?: ReadonlySet<number>;
}

const maxRounds = 40;
const pauseMs = 25;

/** Kills this user's processes by their cookie, and looks again until none is left: they may fork meanwhile. */
export async function endMarked(
  clock: Clock,
  matches: (cookie: string) => boolean,
  limits: SweepLimits = {},
): Promise<SweepResult> {
  const ended = new Set<string>();
  for (let round = 0; round < maxRounds; round += 1) {
    const found = await killOnce(matches, limits);
    if (found.length === 0) return { ended: ended.size, clean: true };
    for (const row of found) ended.add(`${row.pid}:${row.start}`);
    await sleep(clock, pauseMs);
  }
  return { ended: ended.size, clean: false };
}

/** Ends what carries the cookie of a hub that is dead. */
export async function endStale(clock: Clock, self: CookieOwner): Promise<SweepResult> {
  return endMarked(
    clock,
    (cookie) => {
      const owner = parseCookie(cookie);
      return owner !== undefined && owner.namespace === self.namespace && !isAlive(owner);
    },
    // Whoever runs this hub is in use, even where it was once started by a hub that is gone.
    { spare: ancestors(self.pid) },
  );
}

async function killOnce(matches: (cookie: string) => boolean, limits: SweepLimits): Promise<ProcessRow[]> {
  const { since = 0, spare } = limits;
  const found: ProcessRow[] = [];
  for (const row of await listProcesses()) {
    if (row.ended || row.start < since || row.pid === process.pid || spare?.has(row.pid)) continue;
    if (!hasOwnUser(row.pid)) continue;
    const cookie = await readCookie(row.pid);
    if (cookie === undefined || !matches(cookie)) continue;
    // The pid may have passed to another process while the cookie was read.
    if (readProcess(row.pid)?.start !== row.start) continue;
    if (kill(row.pid)) found.push(row);
  }
  return found;
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

function ancestors(pid: number): ReadonlySet<number> {
  const line = new Set<number>();
  let next = pid;
  while (next > 0 && !line.has(next)) {
    line.add(next);
    next = readProcess(next)?.parent ?? 0;
  }
  return line;
}
