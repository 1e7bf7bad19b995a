import { ToolFault } from '../../serving/index.ts';
import type { Git } from './prepare-git.ts';

/** Commits that a caller named, as hashes: nothing that was written by a caller reaches git's own revision parser again. */
export type Revisions =
  | { readonly kind: 'commit'; readonly hash: string }
  /** `A..B`: what B has and A has not. `A...B` is symmetric: what one of them has and the other has not. */
  | { readonly kind: 'range'; readonly from: string; readonly to: string; readonly symmetric: boolean };

/** A commit, branch, tag or anything else that git takes for one commit. */
export async function commitOf(git: Git, ref: string): Promise<string> {
  const hash = await objectOf(git, `${ref}^{commit}`);
  if (hash !== undefined) return hash;
  const range = ref.includes('..') ? ' One commit is wanted here, not a range.' : '';
  throw new ToolFault(
    `No commit is called ${JSON.stringify(ref)} here.${range} Give a branch, a tag, a hash, or HEAD~2 and the like.`,
  );
}

/** None in a repository without commits, and on a branch that has none yet. */
export function headCommit(git: Git): Promise<string | undefined> {
  return objectOf(git, 'HEAD^{commit}');
}

export async function revisionsOf(git: Git, ref: string): Promise<Revisions> {
  // No name of a branch or tag has two dots in it.
  const range = /^(.*?)(\.\.\.?)(.*)$/s.exec(ref);
  if (range === null) return { kind: 'commit', hash: await commitOf(git, ref) };
  const [, from = '', dots, to = ''] = range;
  const [first, last] = [await commitOf(git, from || 'HEAD'), await commitOf(git, to || 'HEAD')];
  return { kind: 'range', from: first, to: last, symmetric: dots === '...' };
}

/** The way git writes them. */
export function formatRevisions(revisions: Revisions): string {
  if (revisions.kind === 'commit') return revisions.hash;
  return `${revisions.from}${revisions.symmetric ? '...' : '..'}${revisions.to}`;
}

/** The hash of what an expression means; none where it means nothing. */
export async function objectOf(git: Git, expression: string): Promise<string | undefined> {
  const output = await git.attempt(['rev-parse', '--verify', '--quiet', '--end-of-options', expression]);
  const hash = output.stdout.toString('utf8').trim();
  return output.code === 0 && /^[0-9a-f]{40,64}$/.test(hash) ? hash : undefined;
}
