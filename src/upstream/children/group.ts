import { type Clock, sleep } from '../../base/index.ts';
import type { ListProcesses } from './process-table.ts';

const killWaitMs = 2_000;

/** Ends all processes of the group: SIGTERM, and SIGKILL after the grace. False if some are still running. */
export async function endGroup(
  { clock, list }: { readonly clock: Clock; readonly list: ListProcesses },
  group: number,
  graceMs: number,
): Promise<boolean> {
  if (await groupGone(clock, list, group, 0)) return true;
  signalGroup(group, 'SIGTERM');
  if (await groupGone(clock, list, group, graceMs)) return true;
  signalGroup(group, 'SIGKILL');
  return groupGone(clock, list, group, killWaitMs);
}

export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // The group is empty, or we may not signal its processes.
  }
}

/** Polls with growing pauses for up to `ms`. Returns whether the group is gone. */
async function groupGone(clock: Clock, list: ListProcesses, group: number, ms: number): Promise<boolean> {
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
