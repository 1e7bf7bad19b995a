import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { findCheckout, type GitCheckout, readGitLine } from './git-checkout.ts';

/**
 * The same folder in the main checkout, if this one is in a linked worktree of git. Both files that git keeps for a
 * worktree must name each other: whoever sent the folder can write one of them, and not the one in the main checkout.
 */
export async function findMainCheckout(workspace: string): Promise<string | undefined> {
  const here = await realpath(workspace).catch(() => undefined);
  const checkout = here === undefined ? undefined : await findCheckout(here);
  if (here === undefined || checkout?.isLinked !== true) return undefined;
  const main = await mainOf(checkout);
  return main === undefined ? undefined : join(main, relative(checkout.top, here));
}

/** `.git` of a worktree says `gitdir: MAIN/.git/worktrees/NAME`, whose `gitdir` names that `.git` again. */
async function mainOf({ top, gitFolder }: GitCheckout): Promise<string | undefined> {
  if (basename(dirname(gitFolder)) !== 'worktrees') return undefined;
  const back = await readGitLine(join(gitFolder, 'gitdir'));
  if (back === undefined) return undefined;
  const named = await realpath(isAbsolute(back) ? back : resolve(gitFolder, back)).catch(() => undefined);
  const main = dirname(dirname(gitFolder));
  return named === join(top, '.git') && basename(main) === '.git' ? dirname(main) : undefined;
}
