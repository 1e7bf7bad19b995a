import type { Clock, GuardedFolder } from '../../base/index.ts';
import type { Retention } from '../../domain/index.ts';
import type { SegmentHead } from '../journal/chain.ts';
import type { JournalName } from '../journal/journal-name.ts';
import { journalSegments, readSegmentEnds } from '../journal/segments.ts';
import { expiredFiles } from './expired-files.ts';
import { presentTime } from './present-time.ts';

export interface PruneDeps {
  readonly clock: Clock;
  /** Resolves when the record is in the journal. */
  readonly note: (record: string) => Promise<void>;
  /** Waits between two steps, so that calls come first. */
  readonly pause: () => Promise<void>;
}

/** The clock, and the time by which files are old, see `believedTime`. */
export interface RetentionTime {
  readonly now: number;
  readonly believed: number | undefined;
}

interface JournalFileOnDisk {
  readonly name: JournalName;
  readonly changedAt: number;
  readonly bytes: number;
  readonly isRemovable: boolean;
}

/**
 * Removes sealed journal files that retention no longer keeps, oldest first. No open or held call is in a sealed file. The
 * record of the removal is written first, so a file that is gone without one was removed by somebody else.
 */
export async function pruneSegments(
  deps: PruneDeps,
  folder: GuardedFolder,
  keep: Retention,
  time: RetentionTime,
): Promise<number> {
  let pruned = 0;
  for (const { file, why } of expiredFiles(await datedFiles(folder, time), keep, time.believed)) {
    const ends = await readSegmentEnds(folder.path, file.name);
    if (ends?.last === undefined) continue;
    const { seq, hash } = ends.last;
    const head: SegmentHead = { life: file.name.boot, file: ends.header?.file ?? file.name.number, seq, hash };
    const ts = new Date(deps.clock.now()).toISOString();
    await deps.note(`${JSON.stringify({ k: 'pruned', ts, ...head, bytes: file.bytes, why })}\n`);
    folder.removeIfThere(file.name.file);
    pruned++;
    await deps.pause();
  }
  return pruned;
}

async function datedFiles(folder: GuardedFolder, time: RetentionTime): Promise<JournalFileOnDisk[]> {
  const files: JournalFileOnDisk[] = [];
  for (const life of await journalSegments(folder.path)) {
    for (const name of life) {
      const found = folder.stat(name.file);
      if (found === undefined) continue;
      const isRemovable = name.holder === 'sealed';
      const changedAt = isRemovable ? presentTime(folder, name.file, found.mtimeMs, time) : found.mtimeMs;
      files.push({ name, changedAt, bytes: found.size, isRemovable });
    }
  }
  return files;
}
