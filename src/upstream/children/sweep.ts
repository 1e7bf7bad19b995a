import { type Clock, isAlive, type ProcessRow, readProcess, sleep } from '../../base/index.ts';
import { type CookieOwner, parseCookie } from './cookie.ts';
import { hasOwnUser, listProcesses, readCookie } from './process-table.ts';

export interface SweepResult {
  readonly ended: number;
  /** False if a process could not be ended. */
  readonly clean: boolean;
}

interface SweepLimits {
  /** Start time of the oldest process that can carry the cookie. */
  readonly since?: number;
  readonly spare?: ReadonlySet<number>;
}

const maxAttempts = 40;
const pauseMs = 25;
/** On a loaded machine, a killed process may take a while to disappear. */
const maxPauseMs = 250;

/** Kills this user's processes by their cookie until none is left, because they may fork meanwhile. */
export async function endMarked(
  clock: Clock,
  matches: (cookie: string) => boolean,
  limits: SweepLimits = {},
): Promise<SweepResult> {
  const ended = new Set<string>();
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const found = await killOnce(matches, limits);
    if (found.length === 0) return { ended: ended.size, clean: true };
    for (const { row } of found) ended.add(`${row.pid}:${row.start}`);
    await sleep(clock, pauseAfter(attempt));
  }
  return { ended: ended.size, clean: false };
}

function pauseAfter(attempt: number): number {
  return Math.min(pauseMs * (1 + attempt / 4), maxPauseMs);
}

/** Ends all processes with a child's cookie. Many children often end at once, so they share one scan. */
export interface Sweeper {
  /** Never rejects. */
  end(cookie: string, since: number): Promise<SweepResult>;
}

interface Wanted {
  readonly since: number;
  readonly ended: Set<string>;
  attempts: number;
  settle(result: SweepResult): void;
}

export function createSweeper(clock: Clock): Sweeper {
  const wanted = new Map<string, Wanted>();
  let running = false;

  function settle(cookie: string, { ended, settle: done }: Wanted, clean: boolean): void {
    wanted.delete(cookie);
    done({ ended: ended.size, clean });
  }

  /** A cookie that is added during a scan waits for the next one, because the scan may have passed its processes. */
  async function look(): Promise<void> {
    const now = [...wanted];
    const cookies = new Set(now.map(([cookie]) => cookie));
    const since = Math.min(...now.map(([, one]) => one.since));
    const left = new Set<string>();
    for (const { row, cookie } of await killOnce((each) => cookies.has(each), { since })) {
      left.add(cookie);
      wanted.get(cookie)?.ended.add(`${row.pid}:${row.start}`);
    }
    for (const [cookie, one] of now) {
      one.attempts += 1;
      if (!left.has(cookie)) settle(cookie, one, true);
      else if (one.attempts >= maxAttempts) settle(cookie, one, false);
    }
  }

  async function run(): Promise<void> {
    running = true;
    try {
      for (let attempt = 0; wanted.size > 0; attempt += 1) {
        if (attempt > 0) await sleep(clock, pauseAfter(attempt));
        await look();
      }
    } catch {
      // It is unknown what they left. The watchdog and the next start scan again.
      for (const [cookie, one] of wanted) settle(cookie, one, false);
    }
    running = false;
  }

  return {
    end(cookie, since) {
      return new Promise((done) => {
        wanted.set(cookie, { since, ended: new Set(), attempts: 0, settle: done });
        if (!running) void run();
      });
    },
  };
}

/** Ends processes with the cookie of a dead hub. */
export async function endStale(clock: Clock, self: CookieOwner): Promise<SweepResult> {
  return endMarked(
    clock,
    (cookie) => {
      const owner = parseCookie(cookie);
      return owner !== undefined && owner.namespace === self.namespace && !isAlive(owner);
    },
    // Spares the ancestors of this hub, even if a dead hub started them.
    { spare: ancestors(self.pid) },
  );
}

interface Killed {
  readonly row: ProcessRow;
  readonly cookie: string;
}

async function killOnce(matches: (cookie: string) => boolean, limits: SweepLimits): Promise<Killed[]> {
  const { since = 0, spare } = limits;
  const found: Killed[] = [];
  for (const row of await listProcesses()) {
    if (row.ended || row.start < since || row.pid === process.pid || spare?.has(row.pid)) continue;
    if (!hasOwnUser(row.pid)) continue;
    const cookie = await readCookie(row.pid);
    if (cookie === undefined || !matches(cookie)) continue;
    // Another process may have got the pid while the cookie was read.
    if (readProcess(row.pid)?.start !== row.start) continue;
    if (kill(row.pid)) found.push({ row, cookie });
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
