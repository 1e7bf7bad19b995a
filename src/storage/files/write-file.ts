import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createId, errnoOf, type RandomBytes } from '../../base/index.ts';

/** What unfinished files end with; the state folder sweeps old ones. */
export const unfinishedSuffix = '.tmp';

/** Readers see the old text or the new one, never a part; on disk before it resolves. */
export async function replaceFile(path: string, text: string, random: RandomBytes): Promise<void> {
  const draft = draftPath(path, random);
  try {
    await writeNew(draft, text, true);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/**
 * Creates the file with its whole text, or answers false where one is there already. A hard link does
 * both in one step; where the file system has none, readers may briefly see an empty file.
 */
export async function createFileOnce(
  path: string,
  text: string,
  random: RandomBytes,
  makeLink: typeof link = link,
): Promise<boolean> {
  const draft = draftPath(path, random);
  try {
    await writeNew(draft, text, false);
    await makeLink(draft, path);
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') return false;
    if (errno === undefined || !withoutLinks.has(errno)) throw error;
    return await createInPlace(path, text);
  } finally {
    await rm(draft, { force: true });
  }
}

const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

function draftPath(path: string, random: RandomBytes): string {
  return `${path}.${createId(random, 12)}${unfinishedSuffix}`;
}

async function writeNew(path: string, text: string, durable: boolean): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    if (durable) await file.sync();
  } finally {
    await file.close();
  }
}

async function createInPlace(path: string, text: string): Promise<boolean> {
  try {
    await writeNew(path, text, false);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** A rename is durable only when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
