import { type Clock, type Logger, openGuardedFolder, sleep } from '../../base/index.ts';
import type { Retention } from '../../domain/index.ts';
import type { LedgerPlaces } from '../places.ts';
import { believedTime, type ClockMemory, rememberTime } from './believed-time.ts';
import { readClockMemory, writeClockMemory } from './clock-memory-file.ts';
import { pruneRuns } from './prune-runs.ts';
import { type PruneDeps, pruneSegments, type RetentionTime } from './prune-segments.ts';

export interface RetentionDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly note: (record: string) => Promise<void>;
}

export interface RetentionLimits {
  readonly keep: Retention;
  readonly runs: Retention;
}

/** Removes old journal and run files every minute, one at a time, until the signal aborts. Never rejects. */
export async function startRetention(
  { clock, logger, note }: RetentionDeps,
  places: LedgerPlaces,
  limits: RetentionLimits,
  signal: AbortSignal,
): Promise<void> {
  const pause = (): Promise<void> => sleep(clock, stepMs, signal);
  const deps: PruneDeps = { clock, note, pause };
  const look = createTimeKeeper({ clock, logger }, places);
  while (!signal.aborted) {
    await sleep(clock, sweepMs, signal);
    if (signal.aborted) return;
    try {
      const time = look();
      const files = await pruneJournal(deps, places, limits.keep, time);
      const copies = await pruneRuns(deps, places.workspace, limits.runs, time);
      if (files + copies > 0) logger.info('ledger.pruned', { files, copies });
    } catch (error) {
      if (!signal.aborted) logger.warn('ledger.retention-failed', { error });
    }
  }
}

/** Remembers the clock from look to look, and across starts of the hub. */
function createTimeKeeper(
  { clock, logger }: Pick<RetentionDeps, 'clock' | 'logger'>,
  { journal }: LedgerPlaces,
): () => RetentionTime {
  let stored = readClockMemory(journal);
  let memory = stored;
  return () => {
    const now = clock.now();
    const next: ClockMemory = rememberTime(memory, now);
    if (memory !== undefined && next.since !== memory.since) {
      logger.warn('ledger.clock-jumped', {
        from: new Date(memory.last).toISOString(),
        to: new Date(now).toISOString(),
      });
    }
    memory = next;
    if (stored?.since !== next.since || next.last - stored.last >= storeMs) {
      writeClockMemory(journal, next);
      stored = next;
    }
    const believed = believedTime(next);
    return { now, believed };
  };
}

async function pruneJournal(
  deps: PruneDeps,
  { journal }: LedgerPlaces,
  keep: Retention,
  time: RetentionTime,
): Promise<number> {
  const folder = openGuardedFolder(journal.root, journal.names);
  if (folder === undefined) return 0;
  try {
    return await pruneSegments(deps, folder, keep, time);
  } finally {
    folder.close();
  }
}

const sweepMs = 60_000;
const stepMs = 20;
const storeMs = 10 * 60_000;
