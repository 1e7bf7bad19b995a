import { closeSync, fsync, writeFile } from 'node:fs';
import { promisify } from 'node:util';
import { createId, errnoOf, type GuardedFolder, type RandomBytes } from '../../base/index.ts';
import type { WorkspaceLayout } from './layout.ts';
import { expectFolderOf, openFolderOf, statePlaceName, unfinishedSuffix } from './state-place.ts';

/**
 * Readers see the old text or the new one, never a part. Resolves when it is on disk.
 * Replaces a link, never follows it.
 */
export async function replaceFile(
  layout: WorkspaceLayout,
  path: string,
  text: string,
  random: RandomBytes,
): Promise<void> {
  const folder = expectFolderOf(layout, path);
  const draft = draftName(path, random);
  try {
    await writeNew(folder, draft, text, true);
    folder.rename(draft, statePlaceName(path));
    // A rename is durable only after its folder is synced.
    await promisify(fsync)(folder.fd);
  } catch (error) {
    folder.removeIfThere(draft);
    throw error;
  } finally {
    folder.close();
  }
}

/**
 * Creates the file with its whole text, or returns false if it exists. A hard link does both
 * in one step. On file systems
 * without hard links, readers may briefly see an empty file.
 */
export async function createFileOnce(
  layout: WorkspaceLayout,
  path: string,
  text: string,
  random: RandomBytes,
): Promise<boolean> {
  const folder = expectFolderOf(layout, path);
  try {
    return await createOnceIn(folder, statePlaceName(path), text, random);
  } finally {
    folder.close();
  }
}

export async function createOnceIn(
  folder: GuardedFolder,
  name: string,
  text: string,
  random: RandomBytes,
  makeLink: (from: string, to: string) => void = (from, to) => folder.link(from, to),
): Promise<boolean> {
  const draft = draftName(name, random);
  try {
    await writeNew(folder, draft, text, false);
    makeLink(draft, name);
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') return false;
    if (errno === undefined || !withoutLinks.has(errno)) throw error;
    return await createInPlace(folder, name, text);
  } finally {
    folder.removeIfThere(draft);
  }
}

/** Does nothing if the file is missing. */
export function removeFile(layout: WorkspaceLayout, path: string): void {
  const folder = openFolderOf(layout, path);
  try {
    folder?.removeIfThere(statePlaceName(path));
  } finally {
    folder?.close();
  }
}

const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

function draftName(path: string, random: RandomBytes): string {
  return `${statePlaceName(path)}.${createId(random, 12)}${unfinishedSuffix}`;
}

async function writeNew(folder: GuardedFolder, name: string, text: string, durable: boolean): Promise<void> {
  const fd = folder.open(name, 'create');
  try {
    await promisify(writeFile)(fd, text);
    if (durable) await promisify(fsync)(fd);
  } finally {
    closeSync(fd);
  }
}

async function createInPlace(folder: GuardedFolder, name: string, text: string): Promise<boolean> {
  try {
    await writeNew(folder, name, text, false);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}
