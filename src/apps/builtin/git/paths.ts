import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import { errnoOf } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';
import type { Repository } from './repository.ts';

/** Both are real paths. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * A path that a caller gave, as git knows it; none where it means everything. Git looks at links, not through them, so
 * the last step may be one that leads out, but no step before it.
 */
export async function pathInside(repository: Repository, given: string | undefined): Promise<string | undefined> {
  if (given === undefined) return undefined;
  const shown = JSON.stringify(given);
  if (isAbsolute(given)) {
    throw new ToolFault(`The path ${shown} is absolute. Give it relative to the top of the repository.`);
  }
  const path = normalize(given).replace(/\/$/, '');
  if (path === '.' || path === '') return undefined;
  if (path === '..' || path.startsWith(`..${sep}`)) {
    throw new ToolFault(`The path ${shown} leads out of the repository. Give one inside it.`);
  }
  if (path.split(sep).some((step) => step.toLowerCase() === '.git')) {
    throw new ToolFault(`The path ${shown} is git's own folder, which is not served. Name a file of the repository.`);
  }
  if (
    !repository.bare &&
    !isInside(repository.root, await nearestFolder(join(repository.root, path), repository.root))
  ) {
    throw new ToolFault(`The path ${shown} goes through a link that leads out of the repository. Name what is inside.`);
  }
  return path;
}

/** Where a path really lies, or would lie: the real path of the nearest folder above it that exists. */
async function nearestFolder(path: string, root: string): Promise<string> {
  for (let folder = dirname(path); folder !== root; folder = dirname(folder)) {
    const found = await realpath(folder).catch(absent);
    if (found !== undefined) return found;
  }
  return root;
}

/** A file of another commit: here its folder may be gone, or be a file. */
function absent(error: unknown): undefined {
  if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
  throw new ToolFault(`The path cannot be looked at (${errnoOf(error) ?? 'unknown reason'}). Give another one.`);
}
