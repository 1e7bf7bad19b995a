import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../base/index.ts';

export interface FolderTree {
  /** Relative to the workspace, sorted by name, parents first. Empty if the top folder does not exist. */
  readonly folders: readonly string[];
  /** The first folder that exists but cannot be read. */
  readonly unreadable?: { readonly folder: string; readonly code: string };
}

/**
 * A folder and all folders below it, except templates (`_…`), hidden folders and installed packages. A link to a folder
 * counts, but its subfolders do not, so link cycles need no detection.
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
      // Removed in the meantime, or a file in place of the folder, which belongs to another program.
      if (code !== 'ENOENT' && code !== 'ENOTDIR') unreadable ??= { folder, code };
    }
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
