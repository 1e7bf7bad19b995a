import { z } from 'zod';
import { defineTool, type ServedTool } from '../../serving/index.ts';
import { authorArgument, dateArgument, limitArgument, lookingOnly, pathArgument, refArgument } from './arguments.ts';
import { commitFormat, commitsAnswer } from './commits.ts';
import type { GitTools } from './git-calls.ts';
import { pathInside } from './paths.ts';
import { formatRevisions, headCommit, revisionsOf } from './revisions.ts';

export function gitLog({ calls, repository, maxBytes }: GitTools): ServedTool {
  return defineTool({
    name: 'git_log',
    title: 'History',
    description: 'Lists commits, newest first: hash, date, author, subject. Use git_show for the details of one.',
    annotations: lookingOnly,
    input: z.strictObject({
      limit: limitArgument(1_000, 20).describe('Maximum number of commits.'),
      ref: refArgument
        .optional()
        .describe('Start from this commit instead of HEAD. A..B lists the commits in B that are not in A.'),
      path: pathArgument.optional(),
      author: authorArgument.optional(),
      since: dateArgument.optional(),
      until: dateArgument.optional(),
    }),
    async run({ limit, ref, path: given, author, since, until }, call) {
      const path = await pathInside(repository, given);
      const output = await calls.onRepository(repository, call, async (git) => {
        const from = ref === undefined ? await headCommit(git) : formatRevisions(await revisionsOf(git, ref));
        if (from === undefined) return undefined;
        return git.run([
          ...logCommand(limit),
          '--fixed-strings',
          '--regexp-ignore-case',
          ...(author === undefined ? [] : [`--author=${author}`]),
          ...(since === undefined ? [] : [`--since=${since}`]),
          ...(until === undefined ? [] : [`--until=${until}`]),
          from,
          '--',
          ...(path === undefined ? [] : [path]),
        ]);
      });
      if (output === undefined) return noCommitsYet;
      return commitsAnswer(output, {
        limit,
        maxBytes,
        none: 'No commits.',
        narrower: 'Give a path, an author, or dates.',
      });
    },
  });
}

export const noCommitsYet = { text: 'There are no commits yet.', structured: { commits: [], more: false } } as const;

/** Asks for one more than the limit, to detect further commits. */
export function logCommand(limit: number): readonly string[] {
  return ['log', ...commitFormat, `--max-count=${limit + 1}`];
}
