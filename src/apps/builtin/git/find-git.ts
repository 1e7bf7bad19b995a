import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import { isInside } from './paths.ts';

/** Where the environment has no PATH. */
const defaultPath = '/usr/local/bin:/usr/bin:/bin';

/**
 * The machine's git. Folders of PATH that are relative or lie in the repository do not count: what is called `git`
 * there would be a program out of the repository.
 */
export async function findGit(searchPath: string | undefined, root: string): Promise<string> {
  for (const folder of (searchPath ?? defaultPath).split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const found = await realpath(join(folder, 'git')).catch(() => undefined);
    if (found === undefined || isInside(root, found) || isInside(root, folder)) continue;
    const runnable = await access(found, constants.X_OK).then(
      () => true,
      () => false,
    );
    // Not its real path: what is linked there may look at the name by which it was called.
    if (runnable) return join(folder, 'git');
  }
  throw new HubError('CONFIG_INVALID', 'The built-in server git needs the program git, which is not on PATH.', {
    hint: 'Install git, or correct the PATH of this server.',
  });
}
