import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import { isInsideRepository } from './paths.ts';

/** Used if the environment has no PATH. */
const defaultPath = '/usr/local/bin:/usr/bin:/bin';

/**
 * Finds the machine's git. Skips PATH folders that are relative or inside the repository,
 * where `git` would be a program
 * from the repository.
 */
export async function findGit(searchPath: string | undefined, root: string): Promise<string> {
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
  throw new HubError('CONFIG_INVALID', 'The built-in server git needs the program git, which is not on PATH.', {
    hint: 'Install git, or correct the PATH of this server.',
  });
}
