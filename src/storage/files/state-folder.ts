import { chmod, lstat, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, createSystemClock, errnoOf, HubError } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import type { WorkspaceLayout } from './layout.ts';
import { unfinishedSuffix } from './write-file.ts';

/** Makes sure that `.quartermaster/` is there, is ours alone, and stays out of version control. */
export async function ensureStateFolder(
  layout: WorkspaceLayout,
  { clock = createSystemClock() }: { readonly clock?: Clock } = {},
): Promise<void> {
  try {
    await makeFolder(layout.folder);
    await checkFolder(layout.folder);
    await makeFolder(layout.locks);
    await makeFolder(layout.journal);
    await writeOnce(layout.gitignore, '*\n');
    for (const folder of [layout.folder, layout.locks]) await sweepUnfinished(folder, clock.now());
  } catch (error) {
    throw fileError(error, 'use', layout.folder);
  }
}

/** Long enough for any writer that is still alive. */
const unfinishedMs = 3_600_000;

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

async function checkFolder(path: string): Promise<void> {
  const found = await lstat(path);
  if (found.isSymbolicLink()) {
    // Whoever can plant a link in a repository could have secrets written where they can read them.
    throw unusable(path, 'is a symbolic link', 'Remove the link; the folder is made anew.');
  }
  if (!found.isDirectory()) throw unusable(path, 'is not a folder', 'Move that file away; the folder is made anew.');
  const user = process.getuid?.();
  if (user !== undefined && user !== 0 && found.uid !== user) {
    throw unusable(path, 'belongs to another user', 'Run as that user, or remove the folder.');
  }
  if ((found.mode & 0o077) !== 0) await chmod(path, 0o700);
}

function unusable(path: string, what: string, hint: string): HubError {
  return new HubError('CONFIG_INVALID', `The state folder ${path} ${what}.`, { hint, details: { path } });
}

async function writeOnce(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

/** A process that was killed while writing leaves its draft behind. */
async function sweepUnfinished(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(unfinishedSuffix)) continue;
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && found.mtimeMs < now - unfinishedMs) await rm(path, { force: true });
  }
}
