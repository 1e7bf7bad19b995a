import { type GuardedFolder, HubError } from '../../base/index.ts';
import type { Retention } from '../../domain/index.ts';
import { isRunFileName, rotatedRunFile, runFileName } from '../places.ts';
import { openRunsFolderIfThere } from '../runs/run-file.ts';
import { expiredFiles } from './expired-files.ts';
import { presentTime } from './present-time.ts';
import type { PruneDeps, RetentionTime } from './prune-segments.ts';

interface RunCopy {
  readonly run: string;
  readonly name: string;
  readonly changedAt: number;
  readonly bytes: number;
  readonly isRemovable: boolean;
}

/** Rotates large run files and removes those that retention no longer keeps, with the folders that become empty. */
export async function pruneRuns(
  deps: PruneDeps,
  workspace: string,
  keep: Retention,
  time: RetentionTime,
): Promise<number> {
  const runs = openRunsFolderIfThere(workspace);
  if (runs === undefined) return 0;
  let pruned = 0;
  try {
    const files: RunCopy[] = [];
    for (const run of runs.list()) {
      files.push(...rotateRun(runs, run, time));
      await deps.pause();
    }
    for (const { file, why } of expiredFiles(files, keep, time.believed)) {
      const ts = new Date(deps.clock.now()).toISOString();
      await deps.note(`${JSON.stringify({ k: 'pruned-run', ts, run: file.run, copy: file.name, why })}\n`);
      removeCopy(runs, file);
      pruned++;
      await deps.pause();
    }
  } finally {
    runs.close();
  }
  return pruned;
}

/** The run files of one run, after the current one was rotated if it is large. */
function rotateRun(runs: GuardedFolder, run: string, time: RetentionTime): RunCopy[] {
  // Anything else beside the runs is not ours.
  if (runs.stat(run)?.isDirectory() !== true) return [];
  const folder = runs.child(run);
  if (folder === undefined) return [];
  try {
    const size = folder.stat(runFileName)?.size ?? 0;
    const rotated = rotatedRunFile(new Date(time.now).toISOString());
    if (size >= rotateRunBytes && folder.stat(rotated) === undefined) folder.rename(runFileName, rotated);
    return folder.list().flatMap((name) => {
      const found = isRunFileName(name) ? folder.stat(name) : undefined;
      if (found?.isFile() !== true) return [];
      const changedAt = presentRunTime(folder, name, found.mtimeMs, time);
      return [{ run, name, changedAt, bytes: found.size, isRemovable: true }];
    });
  } finally {
    folder.close();
  }
}

/** Others may write here. A file that is not the hub's own counts as old, and does not keep the others from being removed. */
function presentRunTime(...[folder, name, changedAt, time]: Parameters<typeof presentTime>): number {
  try {
    return presentTime(folder, name, changedAt, time);
  } catch (error) {
    if (error instanceof HubError) return 0;
    throw error;
  }
}

function removeCopy(runs: GuardedFolder, { run, name }: RunCopy): void {
  const folder = runs.child(run);
  if (folder === undefined) return;
  try {
    folder.removeIfThere(name);
    if (folder.list().length > 0) return;
  } finally {
    folder.close();
  }
  runs.removeTree(run);
}

/** Large enough to be rare, small enough that removing one frees little at a time. */
const rotateRunBytes = 32 * 1024 * 1024;
