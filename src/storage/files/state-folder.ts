import { closeSync, writeFileSync } from 'node:fs';
import {
  type Clock,
  createId,
  createSilentLogger,
  createSystemClock,
  errnoOf,
  type GuardedFolder,
  HubError,
  type Logger,
  openGuardedFolder,
  type RandomBytes,
  systemRandom,
} from '../../base/index.ts';
import { fileError } from './file-error.ts';
import type { WorkspaceLayout } from './layout.ts';
import { setAsideUntrusted } from './set-aside.ts';
import { isMadeHere, markMadeHere } from './state-origin.ts';
import { nameOf, unfinishedSuffix } from './state-place.ts';

export interface StateFolderOptions {
  readonly clock?: Clock;
  readonly random?: RandomBytes;
  /** Told when the folder was not made here and what gives rights was set aside. */
  readonly logger?: Logger;
}

/** Makes sure that `.quartermaster/` is there, is ours alone, was made here, and stays out of version control. */
export async function ensureStateFolder(layout: WorkspaceLayout, options: StateFolderOptions = {}): Promise<void> {
  const { clock = createSystemClock(), random = systemRandom, logger = createSilentLogger() } = options;
  try {
    const folder = openStateFolder(layout) ?? makeStateFolder(layout, random);
    try {
      if (!isMadeHere(folder)) setAsideUntrusted(layout, folder, { clock, random, logger });
      fillStateFolder(layout, folder);
      sweepUnfinished(layout, folder, clock.now());
    } finally {
      folder.close();
    }
  } catch (error) {
    throw fileError(error, 'use', layout.folder);
  }
}

/** Long enough for any writer that is still alive. */
const unfinishedMs = 3_600_000;

/** The folder itself, for whoever must notice that it is gone. */
export function openStateFolder({ workspace, folder: path }: WorkspaceLayout): GuardedFolder | undefined {
  const folder = openGuardedFolder(workspace, [nameOf(path)]);
  if (folder === undefined) return undefined;
  const { uid, mode } = folder.fstat();
  const user = process.getuid?.();
  if (user !== undefined && user !== 0 && uid !== user) {
    folder.close();
    throw unusable(path, 'belongs to another user', 'Run as that user, or remove the folder.');
  }
  if ((mode & 0o077) !== 0) folder.chmod(0o700);
  return folder;
}

/** Under another name first: whoever sees the folder sees that it was made here. */
function makeStateFolder(layout: WorkspaceLayout, random: RandomBytes): GuardedFolder {
  const root = openGuardedFolder(layout.workspace, []);
  if (root === undefined) throw unusable(layout.folder, 'cannot be made', 'Check the workspace.');
  const draft = `${nameOf(layout.folder)}.${createId(random, 12)}${unfinishedSuffix}`;
  try {
    const folder = root.ensureChild(draft);
    fillStateFolder(layout, folder);
    markMadeHere(folder, random);
    folder.close();
    root.rename(draft, nameOf(layout.folder));
  } catch (error) {
    root.removeTree(draft);
    // Another process was first.
    const errno = errnoOf(error);
    if (errno !== 'ENOTEMPTY' && errno !== 'EEXIST') throw error;
  } finally {
    root.close();
  }
  const made = openStateFolder(layout);
  if (made !== undefined) return made;
  throw unusable(layout.folder, 'disappears as soon as it is made', 'Look who deletes it.');
}

function fillStateFolder({ locks, journal, gitignore }: WorkspaceLayout, folder: GuardedFolder): void {
  for (const path of [locks, journal]) folder.ensureChild(nameOf(path)).close();
  if (folder.stat(nameOf(gitignore)) !== undefined) return;
  let fd: number;
  try {
    fd = folder.open(nameOf(gitignore), 'create');
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return;
    throw error;
  }
  try {
    writeFileSync(fd, '*\n');
  } finally {
    closeSync(fd);
  }
}

function unusable(path: string, what: string, hint: string): HubError {
  return new HubError('CONFIG_INVALID', `The state folder ${path} ${what}.`, { hint, details: { path } });
}

/** A process that was killed while writing leaves its draft behind. */
function sweepUnfinished(layout: WorkspaceLayout, folder: GuardedFolder, now: number): void {
  const locks = folder.child(nameOf(layout.locks));
  for (const each of [folder, locks]) {
    for (const name of each?.list() ?? []) {
      if (!name.endsWith(unfinishedSuffix)) continue;
      const found = each?.stat(name);
      if (found !== undefined && found.mtimeMs < now - unfinishedMs) each?.removeIfThere(name);
    }
  }
  locks?.close();
}
