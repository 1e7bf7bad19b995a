import { isAbsolute, relative, sep } from 'node:path';

/** Both must be real paths. */
export function isInsideRepository(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
