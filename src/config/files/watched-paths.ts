import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { watchedPlaces } from '../load-configuration.ts';
import type { Place } from '../readers/reader.ts';
import { folderTree } from './folder-tree.ts';

/** Every path of the watched places: files, whether they exist or not, and folders with their contents. */
export function watchedPaths(workspace: string): readonly string[] {
  const paths = watchedPlaces.flatMap((place) => {
    if ('file' in place) return [join(workspace, place.file)];
    if ('tree' in place) {
      const { folders } = folderTree(workspace, place.tree);
      const all = [
        place.tree,
        ...folders.flatMap((folder) => [folder, ...place.names.map((name) => `${folder}/${name}`)]),
      ];
      return all.map((path) => join(workspace, path));
    }
    const folder = join(workspace, place.folder);
    return [folder, ...namesIn(folder, place).map((name) => join(folder, name))];
  });
  return [...new Set(paths)];
}

function namesIn(folder: string, { endings }: Extract<Place, { folder: string }>): string[] {
  try {
    return readdirSync(folder).filter((name) => endings.some((ending) => name.endsWith(ending)));
  } catch {
    return [];
  }
}

/** Changes when any file changes. Includes permissions, because a file may become readable. */
export function signatures(paths: readonly string[]): string {
  return paths.map((path) => `${path}=${signature(path)}`).join('|');
}

function signature(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(',');
  } catch {
    return 'absent';
  }
}
