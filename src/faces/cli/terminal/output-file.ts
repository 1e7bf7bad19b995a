import type { Stats } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createId, errnoOf, HubError, type RandomBytes } from '../../../base/index.ts';

/** Checks that a file named by the operator can be written; throws with the reason. */
export async function checkOutput(path: string): Promise<void> {
  const there = await look(path);
  if (there !== undefined && !there.isFile()) {
    throw new HubError('USAGE', `${path} is not a file.`, { hint: 'Name a file, or use --json and a pipe.' });
  }
  const folder = await look(dirname(path));
  if (folder?.isDirectory() === true) return;
  throw new HubError('USAGE', `${path} cannot be written: its folder does not exist.`, {
    hint: `Make ${dirname(path)} first, or name another file.`,
  });
}

/** Readers see the old file or the complete new one. Readable only by its owner, like the ledger. */
export async function replaceOutput(path: string, text: string, random: RandomBytes): Promise<void> {
  const draft = `${path}.${createId(random, 12)}.tmp`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    throw new HubError('USAGE', `${path} cannot be written (${errno}).`, {
      hint: 'Nothing was changed. Free the place, or name another file.',
      cause: error,
    });
  }
}

async function look(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw new HubError('USAGE', `${path} cannot be looked at (${errnoOf(error) ?? 'unknown error'}).`, {
      hint: 'Name another file.',
      cause: error,
    });
  }
}
