import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { HubError } from '../base/index.ts';

/** Files that a command creates must stay in the workspace, so no folder on their path may be a link. */
export async function refuseLinks(workspace: string, folder: string): Promise<void> {
  let way = '';
  for (const level of folder.split('/')) {
    way = join(way, level);
    const found = await lstat(join(workspace, way)).catch(() => undefined);
    if (found?.isSymbolicLink() !== true) continue;
    throw new HubError('CONFIG_INVALID', `${way} is a symbolic link; nothing is written through it.`, {
      hint: 'Replace it with a folder, then try again.',
    });
  }
}
