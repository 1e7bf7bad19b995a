import { ToolFault } from '../../serving/index.ts';
import type { Git } from './prepare-git.ts';

/** Commits a caller named, as hashes, so that no text of the caller reaches git's revision parser again. */
export type Revisions =
  | { readonly kind: 'commit'; readonly hash: string }
  /** `A..B`: commits of B that A lacks. `A...B` is symmetric: commits that only one of them has. */
  | { readonly kind: 'range'; readonly from: string; readonly to: string; readonly symmetric: boolean };

/** Resolves a commit, branch, tag or any other expression that git accepts for one commit. */
export async function commitOf(git: Git, ref: string): Promise<string> {
  const hash = await objectOf(git, `${ref}^{commit}`);
  if (hash !== undefined) return hash;
  const range = ref.includes('..') ? ' Give one commit, not a range.' : '';
  throw new ToolFault(
    `There is no commit ${JSON.stringify(ref)}.${range} Give a branch, a tag, a hash, or an expression such as HEAD~2.`,
  );
}

/** Undefined in a repository without commits, and on a branch that has none yet. */
export function headCommit(git: Git): Promise<string | undefined> {
  return objectOf(git, 'HEAD^{commit}');
}

export async function revisionsOf(git: Git, ref: string): Promise<Revisions> {
  // Branch and tag names cannot contain two dots.
  const range = /^(.*?)(\.\.\.?)(.*)$/s.exec(ref);
  if (range === null) return { kind: 'commit', hash: await commitOf(git, ref) };
  const [, from = '', dots, to = ''] = range;
  const [first, last] = [await commitOf(git, from || 'HEAD'), await commitOf(git, to || 'HEAD')];
  return { kind: 'range', from: first, to: last, symmetric: dots === '...' };
}

/** In git's notation. */
export function formatRevisions(revisions: Revisions): string {
  if (revisions.kind === 'commit') return revisions.hash;
  return `${revisions.from}${revisions.symmetric ? '...' : '..'}${revisions.to}`;
}

/** The hash an expression resolves to; undefined if it resolves to nothing. */
export async function objectOf(git: Git, expression: string): Promise<string | undefined> {
  const output = await git.attempt(['rev-parse', '--verify', '--quiet', '--end-of-options', expression]);
  const hash = output.stdout.toString('utf8').trim();
  return output.code === 0 && /^[0-9a-f]{40,64}$/.test(hash) ? hash : undefined;
}
