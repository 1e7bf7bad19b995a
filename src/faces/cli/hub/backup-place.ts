import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HubError, resolveExisting } from '../../../base/index.ts';

/** A backup contains keys. Agents' file tools reach the workspace, and a checkout is pushed to others. */
export function refuseSharedPlace(file: string, workspace: string): void {
  for (let folder = resolveExisting(dirname(file)); ; folder = dirname(folder)) {
    const what =
      folder === workspace ? 'the workspace' : existsSync(join(folder, '.git')) ? 'a git checkout' : undefined;
    if (what !== undefined) {
      throw new HubError('USAGE', `${file} is in ${what} ${folder}. A backup contains keys.`, {
        hint: 'Choose a place outside, or add --force.',
      });
    }
    if (dirname(folder) === folder) return;
  }
}
