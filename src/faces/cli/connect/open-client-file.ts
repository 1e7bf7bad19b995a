import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { errnoOf, HubError } from '../../../base/index.ts';
import type { ClientContext } from '../../../clients/index.ts';
import { type OpenedFile, openFile } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import { shownPath } from './client-context.ts';

/** A file of a client as it is on disk, and the only way to replace it. */
export interface OpenedClientFile {
  readonly file: OpenedFile;
  /** The file that a link leads to. */
  readonly target: string | undefined;
  /**
   * Whether its path is in the workspace and a link leads out of it now: a repository, or an agent while the command asks,
   * could so lead the command to any file.
   */
  leadsOut(): Promise<boolean>;
  /** Throws if it does. */
  refuseWayOut(): Promise<void>;
}

/** Some clients keep their history in the file that has their servers. */
const mostBytes = 32 * 1024 * 1024;

export async function openClientFile(
  { random }: Pick<CliContext, 'random'>,
  at: ClientContext,
  path: string,
): Promise<OpenedClientFile> {
  const name = shownPath(at, path);
  const target = await targetOf(path, name);
  const found = await stat(path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  if (found !== undefined && !found.isFile()) {
    throw new HubError('CONFIG_INVALID', `${name} is not a regular file.`, { hint: 'Move it away, then try again.' });
  }
  if ((found?.size ?? 0) > mostBytes) {
    throw new HubError('CONFIG_INVALID', `${name} is over 32 MB.`, { hint: 'Check that this is the right file.' });
  }
  const leadsOut = async (): Promise<boolean> =>
    isInside(at.workspace, path) && !(await staysIn(at.workspace, target ?? path));
  const refuseWayOut = async (): Promise<void> => {
    if (await leadsOut()) throw wayOut(name);
  };
  const file = await openFile({ random, beforeChange: refuseWayOut }, path, name);
  return { file, target, leadsOut, refuseWayOut };
}

async function targetOf(path: string, name: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) return undefined;
  return await realpath(path).catch((cause: unknown) => {
    throw new HubError('CONFIG_INVALID', `${name} is a link that leads nowhere.`, {
      cause,
      hint: 'Correct the link or remove it.',
    });
  });
}

/** Whether the file, which need not exist yet, is in the workspace when all links are followed. */
async function staysIn(workspace: string, path: string): Promise<boolean> {
  let folder = dirname(path);
  let real = await realpath(folder).catch(() => undefined);
  while (real === undefined) {
    folder = dirname(folder);
    real = await realpath(folder).catch(() => undefined);
  }
  return real === workspace || isInside(workspace, real);
}

function wayOut(name: string): HubError {
  return new HubError('CONFIG_INVALID', `${name} is a link that leads out of the workspace; nothing was written.`, {
    hint: 'Replace the link with a file, or choose another place with --scope user.',
  });
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith('../');
}
