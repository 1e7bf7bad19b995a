import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from './errno.ts';

/** The real path of something that may not exist yet: links are followed in the part of the path that does. */
export function resolveExisting(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    return join(resolveExisting(dirname(path)), basename(path));
  }
}
