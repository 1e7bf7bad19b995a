import { z } from 'zod';
import { defineTool, type ServedTool, ToolFault, type ToolOutput } from '../../serving/index.ts';
import { limitArgument, lookingOnly, pathArgument, queryArgument, refArgument } from './arguments.ts';
import { commitsAnswer } from './commits.ts';
import type { GitTools } from './git-calls.ts';
import { logCommand, noCommitsYet } from './log.ts';
import { pathInside } from './paths.ts';
import type { Git } from './prepare-git.ts';
import { formatRevisions, headCommit, type Revisions, revisionsOf } from './revisions.ts';
import type { GitOutput } from './run-git.ts';
import { cutNote, shownName, wholeLines } from './text.ts';

const input = z.strictObject({
  query: queryArgument.describe('Literal text, not a pattern.'),
  in: z
    .enum(['messages', 'content', 'changes'])
    .default('messages')
    .describe(
      'messages: commit messages, ignoring case. content: lines of the files in one commit. changes: commits that added or removed the text.',
    ),
  ref: refArgument.optional().describe('Search this commit and its history instead of HEAD; A..B for a part of it.'),
  path: pathArgument.optional(),
  limit: limitArgument(1_000, 50).describe('Maximum number of results.'),
});

export function gitSearch({ calls, repository, maxBytes }: GitTools): ServedTool {
  return defineTool({
    name: 'git_search',
    title: 'Search the repository',
    description: 'Searches commit messages, the content of committed files, or the changes of commits.',
    annotations: lookingOnly,
    input,
    async run(args, call) {
      const path = await pathInside(repository, args.path);
      return calls.onRepository(repository, call, async (git) => {
        const revisions = await revisionsFor(git, args.ref);
        if (revisions === undefined) return noCommitsYet;
        const limits = path === undefined ? [] : [path];
        if (args.in === 'content') return contentAnswer(await grep(git, args.query, revisions, limits), args, maxBytes);
        const wanted = wantedCommits[args.in](args.query);
        const command = [...logCommand(args.limit), ...wanted, formatRevisions(revisions), '--', ...limits];
        const words = { none: 'No matches.', narrower: 'Give a path, a range, or a longer query.' };
        return commitsAnswer(await git.run(command), { limit: args.limit, maxBytes, ...words });
      });
    },
  });
}

const wantedCommits = {
  messages: (query: string) => ['--regexp-ignore-case', '--fixed-strings', `--grep=${query}`],
  changes: (query: string) => [`-S${query}`],
} as const;

async function revisionsFor(git: Git, ref: string | undefined): Promise<Revisions | undefined> {
  if (ref !== undefined) return revisionsOf(git, ref);
  const hash = await headCommit(git);
  return hash === undefined ? undefined : { kind: 'commit', hash };
}

/** Searches a commit, never the work tree: there git would follow a link out of the repository. */
async function grep(git: Git, query: string, at: Revisions, limits: readonly string[]): Promise<GitOutput> {
  if (at.kind === 'range') throw new ToolFault('`content` searches a single commit, not a range. Give one `ref`.');
  const options = ['--fixed-strings', '--line-number', '-I', '--null'];
  const output = await git.attempt(['grep', ...options, '-e', query, at.hash, '--', ...limits]);
  // Exit code 1 means no match.
  if (output.code === 0 || output.code === 1 || output.cut) return output;
  throw new ToolFault(`git grep failed with exit code ${output.code}. Give another ref or path.`);
}

/** Lines are cut to this length, because minified files have very long ones. */
const mostOfLine = 500;

function contentAnswer(output: GitOutput, { limit }: z.output<typeof input>, maxBytes: number): ToolOutput {
  const all = parseGrep(wholeLines(output));
  const matches = all.slice(0, limit);
  const more = output.cut || all.length > limit;
  const lines = matches.map(({ path, line, text }) => `${shownName(path)}:${line}: ${text}`);
  if (output.cut) lines.push(cutNote(maxBytes, 'Give a path, or a longer query.'));
  else if (more) lines.push(`[There are more than ${limit}. Give a larger limit, a path, or a longer query.]`);
  return { text: lines.length === 0 ? 'No matches.' : lines.join('\n'), structured: { matches, more } };
}

interface Match {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Parses `COMMIT:PATH NUL LINE NUL TEXT`. A path may contain a newline, a text cannot. */
function parseGrep(output: string): readonly Match[] {
  const matches: Match[] = [];
  const record = /[0-9a-f]{40,64}:([^\0]*)\0(\d+)\0([^\n]*)(?:\n|$)/gy;
  for (const [, path = '', line, text = ''] of output.matchAll(record)) {
    const shown = text.length > mostOfLine ? `${text.slice(0, mostOfLine)}…` : text;
    matches.push({ path, line: Number(line), text: shown });
  }
  return matches;
}
