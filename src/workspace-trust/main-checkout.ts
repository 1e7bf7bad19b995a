import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { readPlainFile } from '../base/index.ts';

/**
 * The same folder in the main checkout, if this one is in a linked worktree of git. Both files that git keeps for a
 * worktree must name each other: whoever sent the folder can write one of them, and not the one in the main checkout.
 */
export async function findMainCheckout(workspace: string): Promise<string | undefined> {
  const here = await realpath(workspace).catch(() => undefined);
  if (here === undefined) return undefined;
  for (let folder = here; ; folder = dirname(folder)) {
    const link = join(folder, '.git');
    const text = await readLine(link);
    if (text !== undefined) {
      const main = await mainOf(link, text);
      return main === undefined ? undefined : join(main, relative(folder, here));
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** `.git` of a worktree says `gitdir: MAIN/.git/worktrees/NAME`, whose `gitdir` names that `.git` again. */
async function mainOf(link: string, text: string): Promise<string | undefined> {
  const said = /^gitdir: (.+)$/.exec(text)?.[1];
  if (said === undefined) return undefined;
  const admin = await realpath(resolve(dirname(link), said)).catch(() => undefined);
  if (admin === undefined || basename(dirname(admin)) !== 'worktrees') return undefined;
  const back = await readLine(join(admin, 'gitdir'));
  if (back === undefined) return undefined;
  const named = await realpath(isAbsolute(back) ? back : resolve(admin, back)).catch(() => undefined);
  const main = dirname(dirname(admin));
  return named === link && basename(main) === '.git' ? dirname(main) : undefined;
}

const longest = 4096;

/** The first line of a small regular file. */
async function readLine(path: string): Promise<string | undefined> {
  const found = await readPlainFile(path, longest);
  return found.kind === 'bytes' ? found.bytes.toString('utf8').split('\n', 1)[0] : undefined;
}
