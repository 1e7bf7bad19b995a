import { type Clock, type Logger, openGuardedFolder, sleep } from '../../base/index.ts';
import type { Retention } from '../../domain/index.ts';
import type { LedgerPlaces } from '../places.ts';
import { pruneRuns } from './prune-runs.ts';
import { type PruneDeps, pruneSegments } from './prune-segments.ts';

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
  while (!signal.aborted) {
    await sleep(clock, sweepMs, signal);
    if (signal.aborted) return;
    try {
      const files = await pruneJournal(deps, places, limits.keep);
      const copies = await pruneRuns(deps, places.workspace, limits.runs);
      if (files + copies > 0) logger.info('ledger.pruned', { files, copies });
    } catch (error) {
      if (!signal.aborted) logger.warn('ledger.retention-failed', { error });
    }
  }
}

async function pruneJournal(deps: PruneDeps, { journal }: LedgerPlaces, keep: Retention): Promise<number> {
  const folder = openGuardedFolder(journal.root, journal.names);
  if (folder === undefined) return 0;
  try {
    return await pruneSegments(deps, folder, keep);
  } finally {
    folder.close();
  }
}

const sweepMs = 60_000;
const stepMs = 20;
