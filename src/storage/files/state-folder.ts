import { mkdirSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type Clock,
  createId,
  createSilentLogger,
  createSystemClock,
  ensureGuardedFolder,
  errnoOf,
  type GuardedFolder,
  HubError,
  type Logger,
  type RandomBytes,
  systemRandom,
} from '../../base/index.ts';
import { fileError } from './file-error.ts';
import { placeIn, type WorkspaceLayout } from './layout.ts';
import { finishRestore } from './restore-steps.ts';
import {
  findMovedState,
  isSameWorkspace,
  originOf,
  readOrigin,
  workspaceIdentity,
  writeOrigin,
} from './state-origin.ts';
import { openFolderOf, statePlaceName, unfinishedSuffix } from './state-place.ts';

export interface StateFolderOptions {
  readonly clock?: Clock;
  readonly random?: RandomBytes;
  /** Logs when the workspace was moved or replaced. */
  readonly logger?: Logger;
}

/** Ensures that the state folder of the workspace exists and is private. */
export async function ensureStateFolder(layout: WorkspaceLayout, options: StateFolderOptions = {}): Promise<void> {
  const { clock = createSystemClock(), random = systemRandom, logger = createSilentLogger() } = options;
  checkWorkspace(layout);
  try {
    const folder = openStateFolder(layout) ?? makeStateFolder(layout, random, logger);
    try {
      checkOrigin(layout, folder, { random, logger });
      folder.ensureChild(statePlaceName(layout.locks)).close();
      if (await finishRestore(layout, folder, { clock, random })) logger.warn('state.restore-finished', {});
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

function checkWorkspace({ workspace }: WorkspaceLayout): void {
  const found = statSync(workspace, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  throw new HubError('CONFIG_INVALID', `The workspace ${workspace} is not a folder.`, {
    hint: 'Check the path given with --workspace.',
  });
}

/** Opens the folder itself, for callers that must notice when it is gone. */
export function openStateFolder(layout: WorkspaceLayout): GuardedFolder | undefined {
  const path = layout.folder;
  const folder = openFolderOf(layout, layout.tokens);
  if (folder === undefined) return undefined;
  const { uid, mode } = folder.fstat();
  const user = process.getuid?.();
  if (user !== undefined && user !== 0 && uid !== user) {
    folder.close();
    throw unusable(path, 'belongs to another user', 'Run as that user, or set QM_STATE_DIR to a folder of your own.');
  }
  if ((mode & 0o077) !== 0) folder.chmod(0o700);
  return folder;
}

/** Created under a temporary name first, so that the folder is never visible without its origin file. */
function makeStateFolder(layout: WorkspaceLayout, random: RandomBytes, logger: Logger): GuardedFolder {
  const moved = findMovedState(layout);
  if (moved !== undefined) {
    logger.warn('state.workspace-moved', { from: moved.path, to: layout.workspace, fix: 'Run `qm state move`.' });
  }
  mkdirSync(dirname(layout.home), { recursive: true, mode: 0o700 });
  const { root, names } = placeIn(layout, dirname(layout.folder));
  const parent = ensureGuardedFolder(root, names);
  const draft = `${statePlaceName(layout.folder)}.${createId(random, 12)}${unfinishedSuffix}`;
  try {
    refuseNetworkFolder(parent.path);
    const folder = parent.ensureChild(draft);
    fillStateFolder(layout, folder);
    writeOrigin(folder, originOf(layout), random);
    folder.close();
    parent.rename(draft, statePlaceName(layout.folder));
  } catch (error) {
    parent.removeTree(draft);
    // Another process created it first.
    const errno = errnoOf(error);
    if (errno !== 'ENOTEMPTY' && errno !== 'EEXIST') throw error;
  } finally {
    parent.close();
  }
  const made = openStateFolder(layout);
  if (made !== undefined) return made;
  throw unusable(layout.folder, 'disappears as soon as it is made', 'Find out what deletes it.');
}

/** A folder that was deleted and cloned again at the same path keeps its state, but the operator should know. */
function checkOrigin(
  layout: WorkspaceLayout,
  folder: GuardedFolder,
  { random, logger }: { readonly random: RandomBytes; readonly logger: Logger },
): void {
  const [before, now] = [readOrigin(folder), originOf(layout)];
  if (before !== undefined && isSameWorkspace(before, workspaceIdentity(layout))) return;
  if (before !== undefined) {
    logger.warn('state.workspace-replaced', {
      workspace: layout.workspace,
      note: 'Another folder is at this path now, so its servers need approval. Tokens, rules and the audit log of the folder before it are still in use.',
    });
  }
  writeOrigin(folder, now, random);
}

/** Locks and renames are not reliable there, and a key would cross the network. */
function refuseNetworkFolder(path: string): void {
  const kind = networkFileSystems.get(statfsSync(path).type);
  if (kind === undefined) return;
  throw unusable(path, `is on ${kind}`, 'Set QM_STATE_DIR to a folder on a local disk.');
}

/** By the magic numbers of Linux; other systems report others, and nothing is refused there. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
]);

function fillStateFolder({ locks, journal }: WorkspaceLayout, folder: GuardedFolder): void {
  for (const path of [locks, journal]) folder.ensureChild(statePlaceName(path)).close();
}

function unusable(path: string, what: string, hint: string): HubError {
  return new HubError('CONFIG_INVALID', `The state folder ${path} ${what}.`, { hint, details: { path } });
}

/** A process that was killed while writing leaves its draft behind: a file, or the folder of a restore. */
function sweepUnfinished(layout: WorkspaceLayout, folder: GuardedFolder, now: number): void {
  const locks = folder.child(statePlaceName(layout.locks));
  for (const each of [folder, locks]) {
    for (const name of each?.list() ?? []) {
      if (!name.endsWith(unfinishedSuffix)) continue;
      const found = each?.stat(name);
      if (found !== undefined && found.mtimeMs < now - unfinishedMs) each?.removeTree(name);
    }
  }
  locks?.close();
}
