import { z } from 'zod';
import { defineTool, type ServedTool, ToolFault } from '../../serving/index.ts';
import { lookingOnly, pathArgument, refArgument, statArgument } from './arguments.ts';
import type { GitTools } from './git-calls.ts';
import { pathInside } from './paths.ts';
import type { Git } from './prepare-git.ts';
import { commitOf, revisionsOf } from './revisions.ts';
import { cutNote, wholeLines } from './text.ts';

const input = z.strictObject({
  ref: refArgument
    .optional()
    .describe(
      'Compare with this commit instead of the index. A..B compares two commits; A...B compares B with the common ancestor of A and B.',
    ),
  to: refArgument.optional().describe('Compare `ref` with this commit, not with the work tree.'),
  path: pathArgument.optional(),
  staged: z.boolean().optional().describe('Show staged changes instead of the work tree.'),
  context: z.int().min(0).max(100).default(3).describe('Unchanged lines around each change.'),
  stat: statArgument.optional(),
});

export function gitDiff({ calls, repository, maxBytes }: GitTools): ServedTool {
  return defineTool({
    name: 'git_diff',
    title: 'Differences',
    description:
      'Shows differences between commits, the index and the work tree. Without arguments: unstaged changes. Untracked files are not included; git_status lists them.',
    annotations: lookingOnly,
    input,
    async run(args, call) {
      const path = await pathInside(repository, args.path);
      const output = await calls.onRepository(repository, call, async (git) =>
        git.run([...diffCommand(args), ...(await sides(git, args)), '--', ...(path === undefined ? [] : [path])]),
      );
      if (output.stdout.length === 0) return { text: 'No differences.' };
      const note = output.cut ? cutNote(maxBytes, 'Give a path, a smaller context, or stat: true.') : '';
      return { text: wholeLines(output) + note };
    },
  });
}

/** Otherwise git runs inside each submodule to detect changes, with the configuration it finds there. */
export const outsideSubmodules = '--ignore-submodules=dirty';

/** Full names, short bars. */
export const statOptions: readonly string[] = ['--stat=1000', '--stat-graph-width=20'];

function diffCommand({ context, stat }: z.output<typeof input>): readonly string[] {
  return ['diff', outsideSubmodules, ...(stat === true ? statOptions : [`--unified=${context}`])];
}

async function sides(git: Git, { ref, to, staged }: z.output<typeof input>): Promise<readonly string[]> {
  if (to !== undefined) {
    if (ref === undefined || staged === true)
      throw new ToolFault('`to` needs `ref` and cannot be combined with `staged`.');
    return [await commitOf(git, ref), await commitOf(git, to)];
  }
  const revisions = ref === undefined ? undefined : await revisionsOf(git, ref);
  if (revisions?.kind === 'range') {
    if (staged === true) throw new ToolFault('A range compares two commits and cannot be combined with `staged`.');
    const { from, to: last, symmetric } = revisions;
    return [symmetric ? await forkPoint(git, from, last) : from, last];
  }
  if (git.repository.bare) throw new ToolFault('The repository is bare: it has no work tree. Give `ref` and `to`.');
  return [...(staged === true ? ['--cached'] : []), ...(revisions === undefined ? [] : [revisions.hash])];
}

async function forkPoint(git: Git, one: string, other: string): Promise<string> {
  const { code, stdout } = await git.attempt(['merge-base', one, other]);
  if (code !== 0) throw new ToolFault('The two commits have no common ancestor. Compare them with two dots: A..B.');
  return stdout.toString('utf8').trim();
}
