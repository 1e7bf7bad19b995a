import { type Clock, sleep } from '../../base/index.ts';
import type { ListProcesses } from './process-table.ts';

export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // Nobody is left in it, or nobody that we may signal.
  }
}

/** Looks ever less often, up to `ms`; true when the group is gone. */
export async function groupGone(clock: Clock, list: ListProcesses, group: number, ms: number): Promise<boolean> {
  const until = clock.monotonic() + ms;
  for (let pause = 10; await groupIsAlive(list, group); pause = Math.min(pause * 2, 160)) {
    const left = until - clock.monotonic();
    if (left <= 0) return false;
    await sleep(clock, Math.min(pause, left));
  }
  return true;
}

async function groupIsAlive(list: ListProcesses, group: number): Promise<boolean> {
  try {
    process.kill(-group, 0);
  } catch {
    // ESRCH: empty. EPERM: only zombies (macOS) or other users' processes, which no signal of ours reaches.
    return false;
  }
  // Orphans stay zombies where process 1 does not collect them, as in many containers.
  const rows = await list();
  return rows.length === 0 || rows.some((row) => row.group === group && !row.ended);
}
