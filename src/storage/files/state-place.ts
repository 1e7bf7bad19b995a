import { basename, dirname } from 'node:path';
import { errnoOf, type GuardedFolder, openGuardedFolder } from '../../base/index.ts';
import { placeIn, type WorkspaceLayout } from './layout.ts';

/** The suffix of unfinished files; the state folder sweeps old ones. */
export const unfinishedSuffix = '.tmp';

/** The folder of a state file, opened without following links; undefined if it is missing. */
export function openFolderOf(layout: WorkspaceLayout, path: string): GuardedFolder | undefined {
  const { root, names } = placeIn(layout, dirname(path));
  try {
    return openGuardedFolder(root, names);
  } catch (error) {
    // Even the folder above is missing.
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Like `openFolderOf`, but throws ENOENT if the folder is missing. */
export function expectFolderOf(layout: WorkspaceLayout, path: string): GuardedFolder {
  const folder = openFolderOf(layout, path);
  if (folder !== undefined) return folder;
  throw Object.assign(new Error(`ENOENT: ${dirname(path)} is missing`), { code: 'ENOENT' });
}

export function statePlaceName(path: string): string {
  return basename(path);
}
