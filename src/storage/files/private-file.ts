import { chmod, lstat } from 'node:fs/promises';
import { fileError } from './file-error.ts';
import { damaged } from './json-document.ts';

/** Others must not read it; returns what to tell if they could. */
export async function closeToOthers(file: string, fix: string): Promise<readonly string[]> {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined) return [];
  if (!found.isFile()) throw damaged(file, 'it is not a regular file', fix);
  if ((found.mode & 0o077) === 0) return [];
  try {
    await chmod(file, 0o600);
  } catch (error) {
    throw fileError(error, 'close to other users', file);
  }
  return [`Other users could read ${file}; it is closed now. If it may have been read, delete it and restart.`];
}
