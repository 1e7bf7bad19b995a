import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The files below some folders of the repository, relative to the root, without installed packages. */
export function listFiles(root: string, folders: readonly string[], name: RegExp): string[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => list(root, folder))
    .filter((path) => name.test(path))
    .sort();
}

function list(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : list(root, path);
  });
}
