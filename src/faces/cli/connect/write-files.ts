import { chmod, mkdir, readFile, rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../../../base/index.ts';
import type { ClientContext, ConnectionStore } from '../../../clients/index.ts';
import { fileFailure, replaceAll } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import { shownPath } from './client-context.ts';
import { type FileDraft, isLeftEmpty } from './file-drafts.ts';
import { openClientFile } from './open-client-file.ts';

export interface WrittenFile {
  readonly path: string;
  readonly change: 'created' | 'changed' | 'removed';
  /** A copy of the file as it was; null if there was none. */
  readonly backup: string | null;
  /** The first folder that was made for it. */
  readonly madeFolder: string | undefined;
}

export interface WriteDeps extends Pick<CliContext, 'random'> {
  readonly store: Pick<ConnectionStore, 'backUp'>;
}

/** Backs every file up and replaces all of them. A file that nothing is left in is removed. */
export async function writeFiles(
  deps: WriteDeps,
  at: ClientContext,
  files: readonly FileDraft[],
): Promise<readonly WrittenFile[]> {
  const written: WrittenFile[] = [];
  for (const { opened } of files) await opened.refuseWayOut();
  for (const file of files) {
    // Again for each: an agent may put a link there at any moment.
    await file.opened.refuseWayOut();
    const backup = file.onDisk === undefined ? null : await deps.store.backUp(file.path, await readFile(file.path));
    const change = isLeftEmpty(file) ? 'removed' : file.onDisk === undefined ? 'created' : 'changed';
    const madeFolder = change === 'created' ? await makeFolderOf(at, file.path) : undefined;
    written.push({ path: file.path, change, backup, madeFolder });
  }
  const kept = files.filter((file) => !isLeftEmpty(file));
  try {
    await replaceAll(kept.map(({ opened, steps }) => ({ file: opened.file, text: steps.after })));
  } catch (error) {
    await takeBack(deps, at, files, written);
    throw error;
  }
  for (const { path, change } of written) {
    // It may be in a home folder that others can read.
    if (change === 'created' && !path.startsWith(`${at.workspace}/`)) await chmod(path, 0o600);
  }
  for (const file of files.filter(isLeftEmpty)) {
    await file.opened.refuseWayOut();
    await removeFile(at, file);
  }
  return written;
}

/** If one of several files could not be replaced, the others are as they were, too. */
async function takeBack(
  { random }: WriteDeps,
  at: ClientContext,
  files: readonly FileDraft[],
  written: readonly WrittenFile[],
): Promise<void> {
  for (const { path, onDisk, steps } of files) {
    const { file, leadsOut } = await openClientFile({ random }, at, path);
    // Then this is not the file that was written.
    if (await leadsOut()) continue;
    if (onDisk !== undefined && file.text === steps.after) await file.replace(onDisk);
    const isOwn = file.text === undefined || file.text === steps.after;
    const madeFolder = written.find((each) => each.path === path)?.madeFolder;
    if (onDisk === undefined && isOwn) await removeFile(at, { path, madeFolder });
  }
}

async function makeFolderOf(at: ClientContext, path: string): Promise<string | undefined> {
  try {
    return await mkdir(dirname(path), { recursive: true });
  } catch (error) {
    throw fileFailure(error, 'make the folder of', shownPath(at, path));
  }
}

async function removeFile(
  at: ClientContext,
  { path, madeFolder }: Pick<FileDraft, 'path' | 'madeFolder'>,
): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw fileFailure(error, 'remove', shownPath(at, path));
  }
  if (madeFolder !== undefined) await removeMadeFolders(dirname(path), madeFolder);
}

/** From the last folder up to the first one that was made. One that somebody else uses by now stays. */
async function removeMadeFolders(last: string, first: string): Promise<void> {
  for (let folder = last; folder.startsWith(first); folder = dirname(folder)) {
    const isGone = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}
