import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../../base/index.ts';
import type { Place } from '../readers/reader.ts';
import { folderTree } from './folder-tree.ts';

export type FoundFiles =
  | { readonly kind: 'files'; readonly files: readonly string[] }
  | { readonly kind: 'unreadable'; readonly folder: string; readonly code: string };

/** The files that a place may contain, relative to the workspace, sorted by name. */
export async function findFiles(workspace: string, place: Place): Promise<FoundFiles> {
  if ('file' in place) return { kind: 'files', files: [place.file] };
  if ('tree' in place) {
    const { folders, unreadable } = folderTree(workspace, place.tree);
    if (unreadable !== undefined) return { kind: 'unreadable', ...unreadable };
    return { kind: 'files', files: folders.flatMap((folder) => place.names.map((name) => `${folder}/${name}`)) };
  }
  const { folder, endings } = place;
  try {
    const names = await readdir(join(workspace, folder));
    const ours = names.filter((name) => !name.startsWith('.') && endings.some((ending) => name.endsWith(ending)));
    return { kind: 'files', files: ours.sort().map((name) => `${folder}/${name}`) };
  } catch (error) {
    const code = errnoOf(error) ?? 'unknown error';
    // A file in place of the folder belongs to another program.
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'files', files: [] };
    return { kind: 'unreadable', folder, code };
  }
}

/** Whether the place may contain a file with this path. */
export function isOfPlace(place: Place, file: string): boolean {
  if ('file' in place) return place.file === file;
  if ('tree' in place) return file.startsWith(`${place.tree}/`) && place.names.includes(basename(file));
  return dirname(file) === place.folder && place.endings.some((ending) => file.endsWith(ending));
}
