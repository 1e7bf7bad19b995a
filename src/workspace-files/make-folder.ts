import { lstat, mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createId, HubError } from '../base/index.ts';
import type { ChangeFileDeps } from './change-file.ts';
import { fileFailure } from './file-failure.ts';
import type { NewServerFile } from './new-server-files.ts';
import { refuseLinks } from './refuse-links.ts';

/** Creates a folder with all its files, or leaves nothing behind. Returns a function that removes it again. */
export async function makeFolder(
  { random }: ChangeFileDeps,
  workspace: string,
  folder: string,
  files: readonly NewServerFile[],
): Promise<() => Promise<void>> {
  const target = join(workspace, folder);
  const parent = dirname(target);
  const draft = join(parent, `.${basename(target)}.${createId(random, 12)}.tmp`);
  if ((await lstat(target).catch(() => undefined)) !== undefined) throw isThere(folder);
  await refuseLinks(workspace, folder);
  const made = await mkdir(parent, { recursive: true }).catch((error: unknown) => {
    throw fileFailure(error, 'make', folder);
  });
  const remove = async (path: string): Promise<void> => {
    await rm(path, { recursive: true, force: true });
    await removeMade(parent, made);
  };
  try {
    await mkdir(draft);
    for (const { file, text } of files) await writeFile(join(draft, file), text, { flag: 'wx' });
    await rename(draft, target);
  } catch (error) {
    await remove(draft);
    throw fileFailure(error, 'make', folder);
  }
  return () => remove(target);
}

function isThere(folder: string): HubError {
  return new HubError('USAGE', `There is something at ${folder} already.`, {
    hint: 'Choose another name, put the server elsewhere with --dir, or move that away.',
  });
}

/** Removes the created folders from `last` up to `first`. One that somebody else uses by now stays. */
async function removeMade(last: string, first: string | undefined): Promise<void> {
  if (first === undefined) return;
  for (let folder = last; folder.length >= first.length; folder = dirname(folder)) {
    const gone = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!gone) return;
  }
}
