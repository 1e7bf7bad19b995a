import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { defaultPath } from '../../../base/index.ts';
import { isInsideRepository } from './inside-repository.ts';

/**
 * Finds the machine's git; undefined if there is none. Skips PATH folders that are relative or inside the repository, where
 * `git` would be a program from the repository.
 */
export async function findGit(searchPath: string | undefined, root: string): Promise<string | undefined> {
  for (const folder of (searchPath ?? defaultPath).split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const found = await realpath(join(folder, 'git')).catch(() => undefined);
    if (found === undefined || isInsideRepository(root, found) || isInsideRepository(root, folder)) continue;
    const runnable = await access(found, constants.X_OK).then(
      () => true,
      () => false,
    );
    // Not its real path: a linked program may depend on the name it is called by.
    if (runnable) return join(folder, 'git');
  }
  return undefined;
}
