import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** A checkout of git: the folder with `.git`, and the folder where git keeps its state. */
export interface GitCheckout {
  readonly top: string;
  /** `.git` itself, or for a linked worktree or a submodule the folder that the file `.git` names. */
  readonly gitFolder: string;
  readonly isLinked: boolean;
}

/**
 * The checkout around a real path. Undefined: none, or one that cannot be understood; a folder above it is not asked
 * then, because git would not ask it either.
 */
export async function findCheckout(path: string): Promise<GitCheckout | undefined> {
  for (let top = path; ; top = dirname(top)) {
    const git = join(top, '.git');
    const found = await lstat(git).catch(() => undefined);
    if (found?.isDirectory() === true) return { top, gitFolder: git, isLinked: false };
    if (found !== undefined) {
      const said = /^gitdir: (.+)$/.exec((await readGitLine(git)) ?? '')?.[1];
      const gitFolder = said === undefined ? undefined : await realpath(resolve(top, said)).catch(() => undefined);
      return gitFolder === undefined ? undefined : { top, gitFolder, isLinked: true };
    }
    if (dirname(top) === top) return undefined;
  }
}

const longest = 4096;

/** The first line of a small regular file. Whoever writes the workspace may have put a pipe or a huge file there. */
export async function readGitLine(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(
    () => undefined,
  );
  try {
    if (file === undefined || !(await file.stat()).isFile()) return undefined;
    const { bytesRead, buffer } = await file.read(Buffer.alloc(longest + 1), 0, longest + 1, 0);
    return bytesRead > longest ? undefined : buffer.toString('utf8', 0, bytesRead).split('\n', 1)[0];
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
