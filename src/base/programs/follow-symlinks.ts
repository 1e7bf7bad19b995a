import { lstat, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';

export interface FollowedSymlink {
  /** Absolute. */
  readonly path: string;
  /** As it is written in the link. */
  readonly target: string;
}

export interface Followed {
  /** The links inside the root on the way, in any part of the path. */
  readonly links: readonly FollowedSymlink[];
  /** Where the path leads, whether anything is there or not. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'other' | 'absent';
}

/** As many as Linux follows. */
const maxLinks = 40;

/** Follows a path part by part, so that each link on the way is known. The root is a real path. */
export async function followSymlinks(path: string, root: string): Promise<Followed> {
  const links: FollowedSymlink[] = [];
  let followed = 0;
  let { root: at } = parse(path);
  let left = partsOf(relative(at, path));
  let kind: Followed['kind'] = 'folder';
  while (left.length > 0) {
    const [name = '', ...rest] = left;
    const next = join(at, name);
    const found = await lstat(next).catch(() => undefined);
    if (found?.isSymbolicLink() === true && followed < maxLinks) {
      followed += 1;
      const target = await readlink(next).catch(() => '');
      if (liesIn(root, next)) links.push({ path: next, target });
      const goal = resolve(dirname(next), target);
      ({ root: at } = parse(goal));
      left = [...partsOf(relative(at, goal)), ...rest];
      continue;
    }
    if (found === undefined || found.isSymbolicLink()) return { links, path: join(next, ...rest), kind: 'absent' };
    [at, left] = [next, rest];
    kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
  }
  return { links, path: at, kind };
}

/** Whether the path is the folder or below it, without following links. */
export function liesIn(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function partsOf(path: string): string[] {
  return path.split(sep).filter((part) => part !== '');
}
