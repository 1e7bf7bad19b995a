import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { liesIn } from './programs/follow-symlinks.ts';

/** Used if the environment has no PATH. */
export const defaultPath = '/usr/local/bin:/usr/bin:/bin';

export interface SearchPath {
  readonly path: string;
  /** The folders that were left out. */
  readonly dropped: readonly string[];
}

/**
 * The PATH without relative folders and folders of the workspace: an agent with file tools writes there, and would decide
 * which programs the hub and its servers find.
 */
export function pathOutside(workspace: string, path: string): SearchPath {
  const folders = path.split(delimiter);
  const kept = folders.filter((folder) => isOutside(workspace, folder));
  return {
    path: kept.length === 0 ? defaultPath : kept.join(delimiter),
    dropped: [...new Set(folders.filter((folder) => !kept.includes(folder)))],
  };
}

/** Whether a path is absolute and not in the folder, whichever links lead to either. */
export function isOutside(folder: string, path: string): boolean {
  const roots = [folder, realPath(folder)];
  return isAbsolute(path) && ![path, realPath(path)].some((each) => roots.some((root) => liesIn(root, each)));
}

/** An environment with such a PATH. */
export function environmentOutside<Env extends Readonly<Record<string, string | undefined>>>(
  workspace: string,
  env: Env,
): Env {
  return env.PATH === undefined ? env : { ...env, PATH: pathOutside(workspace, env.PATH).path };
}

/** With links followed, as far as the path exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}
