import { closeSync, futimesSync } from 'node:fs';
import type { GuardedFolder } from '../../base/index.ts';
import { correctionMs } from './believed-time.ts';
import type { RetentionTime } from './prune-segments.ts';

/**
 * When the file changed last. One that a wrong clock dated into the future would be kept until then, so it gets the
 * present time, once the present clock is believed.
 */
export function presentTime(
  folder: GuardedFolder,
  name: string,
  changedAt: number,
  { now, believed }: RetentionTime,
): number {
  if (believed !== now || changedAt <= now + correctionMs) return changedAt;
  const fd = folder.open(name, 'update');
  try {
    futimesSync(fd, now / 1000, now / 1000);
  } finally {
    closeSync(fd);
  }
  return now;
}
