import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { errnoOf } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';
import { isInsideRepository } from './inside-repository.ts';
import type { Repository } from './repository.ts';

/**
 * A caller's path in git's form; undefined if it means the whole repository. Git does not follow links, so the last
 * segment may be a link that leads out, but no segment before it.
 */
export async function pathInside(repository: Repository, given: string | undefined): Promise<string | undefined> {
  if (given === undefined) return undefined;
  const shown = JSON.stringify(given);
  if (isAbsolute(given)) {
    throw new ToolFault(`The path ${shown} is absolute. Make it relative to the top folder of the repository.`);
  }
  const path = normalize(given).replace(/\/$/, '');
  if (path === '.' || path === '') return undefined;
  if (path === '..' || path.startsWith(`..${sep}`)) {
    throw new ToolFault(`The path ${shown} leads out of the repository. Give one inside it.`);
  }
  if (path.split(sep).some((step) => step.toLowerCase() === '.git')) {
    throw new ToolFault(`The path ${shown} is git's own folder, which is not served. Give a file in the repository.`);
  }
  if (
    !repository.bare &&
    !isInsideRepository(repository.root, await nearestFolder(join(repository.root, path), repository.root))
  ) {
    throw new ToolFault(
      `The path ${shown} goes through a link that leads out of the repository. Give a path inside it.`,
    );
  }
  return path;
}

/** The real location of a path that may not exist: the real path of its nearest existing parent folder. */
async function nearestFolder(path: string, root: string): Promise<string> {
  for (let folder = dirname(path); folder !== root; folder = dirname(folder)) {
    const found = await realpath(folder).catch(absent);
    if (found !== undefined) return found;
  }
  return root;
}

/** The path may belong to another commit, so here its folder may be missing or be a file. */
function absent(error: unknown): undefined {
  if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
  throw new ToolFault(`The path cannot be accessed (${errnoOf(error) ?? 'unknown reason'}). Give another one.`);
}
