import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../base/index.ts';

export interface FolderTree {
  /** Relative to the workspace, in the order of their names, the top one first; none where that is not there. */
  readonly folders: readonly string[];
  /** The first one that is there and cannot be read. */
  readonly unreadable?: { readonly folder: string; readonly code: string };
}

/**
 * A folder with all below it. Templates (`_…`), hidden folders and installed packages are left out with what is in them.
 * A link to a folder counts, what lies deeper behind it does not: so no ring of links has to be found.
 */
export function folderTree(workspace: string, top: string): FolderTree {
  const folders: string[] = [];
  let unreadable: FolderTree['unreadable'];
  visit(top);
  return { folders, ...(unreadable === undefined ? {} : { unreadable }) };

  function visit(folder: string): void {
    try {
      const entries = readdirSync(join(workspace, folder), { withFileTypes: true });
      folders.push(folder);
      for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
        if (/^[._]|^node_modules$/.test(entry.name)) continue;
        const inner = `${folder}/${entry.name}`;
        if (entry.isDirectory()) visit(inner);
        else if (entry.isSymbolicLink() && isFolder(join(workspace, inner))) folders.push(inner);
      }
    } catch (error) {
      const code = errnoOf(error) ?? 'unknown error';
      // Gone meanwhile, or a file where the folder would be, which belongs to somebody else.
      if (code !== 'ENOENT' && code !== 'ENOTDIR') unreadable ??= { folder, code };
    }
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
