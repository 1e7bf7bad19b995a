import { basename, dirname, relative, sep } from 'node:path';
import { type GuardedFolder, openGuardedFolder } from '../../base/index.ts';
import type { WorkspaceLayout } from './layout.ts';

/** What unfinished files end with; the state folder sweeps old ones. */
export const unfinishedSuffix = '.tmp';

/** The folder that holds a file of the workspace's state, reached through no link; undefined where it is missing. */
export function openFolderOf({ workspace }: WorkspaceLayout, path: string): GuardedFolder | undefined {
  return openGuardedFolder(workspace, levelsTo(workspace, dirname(path)));
}

/** The same where it must be there: otherwise ENOENT. */
export function expectFolderOf(layout: WorkspaceLayout, path: string): GuardedFolder {
  const folder = openFolderOf(layout, path);
  if (folder !== undefined) return folder;
  throw Object.assign(new Error(`ENOENT: ${dirname(path)} is missing`), { code: 'ENOENT' });
}

export function nameOf(path: string): string {
  return basename(path);
}

function levelsTo(root: string, folder: string): string[] {
  const way = relative(root, folder);
  return way === '' ? [] : way.split(sep);
}
