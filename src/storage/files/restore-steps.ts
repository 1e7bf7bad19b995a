import type { GuardedFolder } from '../../base/index.ts';
import { approvalsEpochName, isKept, placing, restoring } from './kept-names.ts';
import type { WorkspaceLayout } from './layout.ts';
import { type LockOptions, lockInPlace } from './lock-in-place.ts';
import { unfinishedSuffix } from './state-place.ts';

/*
 * A restore goes in steps, each of which can be repeated, so that one that was interrupted is finished at the next start:
 *
 *   before-X.tmp   the files of the backup are being written; the state is as it was
 *   restoring-X    they are complete; the files of the state move to before-X
 *   placing-X      those have moved; the files of the backup move into the state folder
 */
export interface Restore {
  /** The folder that keeps the state before. */
  readonly aside: string;
  /** Writes the files of the backup. */
  fill(fresh: GuardedFolder): void;
}

/** Replaces the state. Nothing may use it meanwhile. If the files cannot be written, the state is as it was. */
export async function restoreFolder(
  layout: WorkspaceLayout,
  folder: GuardedFolder,
  { aside, fill }: Restore,
  options: LockOptions,
): Promise<void> {
  const lock = await lockInPlace(layout, restoreLock, options);
  const draft = `${aside}${unfinishedSuffix}`;
  try {
    inChild(folder, draft, fill);
    folder.rename(draft, `${restoring}${aside}`);
    finish(folder);
  } finally {
    folder.removeTree(draft);
    await lock.release();
  }
}

/** Finishes a restore that was interrupted. Waits for one that is under way in another process. */
export async function finishRestore(
  layout: WorkspaceLayout,
  folder: GuardedFolder,
  options: LockOptions,
): Promise<boolean> {
  if (unfinishedRestore(folder) === undefined) return false;
  const lock = await lockInPlace(layout, restoreLock, options);
  try {
    return finish(folder);
  } finally {
    await lock.release();
  }
}

const restoreLock = 'restore';

function unfinishedRestore(folder: GuardedFolder): string | undefined {
  return folder.list().find((name) => name.startsWith(restoring) || name.startsWith(placing));
}

function finish(folder: GuardedFolder): boolean {
  const found = unfinishedRestore(folder);
  if (found === undefined) return false;
  const aside = found.slice(found.indexOf('-') + 1);
  if (found.startsWith(restoring)) {
    folder.removeTree(approvalsEpochName);
    const before = folder.list().filter((name) => isKept(name, true));
    if (before.length > 0) inChild(folder, aside, (kept) => moveAside(folder, kept, before));
    folder.rename(found, `${placing}${aside}`);
  }
  inChild(folder, `${placing}${aside}`, (fresh) => place(fresh, folder));
  folder.removeTree(`${placing}${aside}`);
  return true;
}

/** A name that is there already has moved before. Its namesake was made after the interruption. */
function moveAside(folder: GuardedFolder, kept: GuardedFolder, names: readonly string[]): void {
  for (const name of names) {
    if (kept.stat(name) === undefined) folder.moveTo(kept, name);
    else folder.removeTree(name);
  }
}

function place(fresh: GuardedFolder, folder: GuardedFolder): void {
  for (const name of fresh.list()) {
    folder.removeTree(name);
    fresh.moveTo(folder, name);
  }
}

function inChild(folder: GuardedFolder, name: string, work: (child: GuardedFolder) => void): void {
  const child = folder.ensureChild(name);
  try {
    work(child);
  } finally {
    child.close();
  }
}
