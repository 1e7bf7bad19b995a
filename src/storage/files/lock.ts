import { createSystemClock, systemRandom } from '../../base/index.ts';
import type { WorkspaceLayout } from './layout.ts';
import { type Lock, type LockOptions, lockInPlace } from './lock-in-place.ts';
import { ensureStateFolder } from './state-folder.ts';

/** Runs `work` while no other process of this workspace holds the lock of that name. Not re-entrant. */
export async function withLock<T>(
  layout: WorkspaceLayout,
  name: string,
  work: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const lock = await acquireLock(layout, name, options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Makes the state folder if it is missing. */
export async function acquireLock(layout: WorkspaceLayout, name: string, options: LockOptions = {}): Promise<Lock> {
  const { clock = createSystemClock(), random = systemRandom } = options;
  await ensureStateFolder(layout, { clock, random });
  return await lockInPlace(layout, name, options);
}
