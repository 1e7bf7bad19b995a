import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { findCheckout, readGitLine } from './git-checkout.ts';

/**
 * The branch that the workspace is on, to remember with an approval. Without a branch, all commits are one of their own,
 * and so are workspaces without git.
 */
export async function readBranch(workspace: string): Promise<string> {
  const head = await headFile(workspace);
  if (head === undefined) return 'none';
  const branch = /^ref: (refs\/.+)$/.exec((await readGitLine(head)) ?? '')?.[1];
  if (branch === undefined) return 'detached';
  return branch.length <= longestName ? branch : `refs#${createHash('sha256').update(branch).digest('hex')}`;
}

/** As people know it. Undefined: no branch. */
export function branchName(branch: string): string | undefined {
  return /^refs\/(?:heads\/)?(.+)$/.exec(branch)?.[1];
}

const longestName = 500;

/** The file that names the branch. */
export async function headFile(workspace: string): Promise<string | undefined> {
  const here = await realpath(workspace).catch(() => undefined);
  const checkout = here === undefined ? undefined : await findCheckout(here);
  return checkout === undefined ? undefined : join(checkout.gitFolder, 'HEAD');
}
