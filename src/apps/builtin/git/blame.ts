import { z } from 'zod';
import { defineTool, type ServedTool, ToolFault } from '../../serving/index.ts';
import { lookingOnly, pathArgument, refArgument } from './arguments.ts';
import type { GitTools } from './git-calls.ts';
import { pathInside } from './paths.ts';
import type { Git } from './prepare-git.ts';
import { commitOf, objectOf } from './revisions.ts';
import type { GitOutput } from './run-git.ts';
import { cutNote, shortHash, wholeLines } from './text.ts';

const lineNumber = z.int().min(1).max(10_000_000);

const input = z.strictObject({
  file: pathArgument,
  ref: refArgument.default('HEAD').describe('Read the file from this commit.'),
  start: lineNumber.optional().describe('The first line.'),
  end: lineNumber.optional().describe('The last line.'),
});

export function gitBlame({ calls, repository, maxBytes }: GitTools): ServedTool {
  return defineTool({
    name: 'git_blame',
    title: 'Blame',
    description: 'Shows the commit, date and author of each line of a committed file.',
    annotations: lookingOnly,
    input,
    async run(args, call) {
      const file = await pathInside(repository, args.file);
      if (file === undefined) throw new ToolFault('That is the repository itself. Name a file.');
      if ((args.start ?? 1) > (args.end ?? Number.POSITIVE_INFINITY)) throw new ToolFault('`start` is after `end`.');
      const output = await calls.onRepository(repository, call, (git) => blame(git, file, args));
      const lines = parseBlame(wholeLines(output));
      const text = lines.map(
        ({ line, hash, date, author, text: content }) => `${shortHash(hash)} ${date} ${author} ${line}) ${content}`,
      );
      if (output.cut) text.push(cutNote(maxBytes, 'Give start and end.'));
      return { text: text.join('\n') || 'The file is empty.', structured: { lines, more: output.cut } };
    },
  });
}

/** Reads a commit, never the work tree: there git would follow a link out of the repository. */
async function blame(git: Git, file: string, { ref, start, end }: z.output<typeof input>): Promise<GitOutput> {
  const commit = await commitOf(git, ref);
  const object = await objectOf(git, `${commit}:${file}`);
  const kind = object === undefined ? undefined : (await git.run(['cat-file', '-t', object])).stdout.toString().trim();
  if (kind !== 'blob') {
    const what = kind === undefined ? 'There is no such file' : 'That is not a file';
    throw new ToolFault(`${what} in ${JSON.stringify(ref)}: ${JSON.stringify(file)}.`);
  }
  const range = start === undefined && end === undefined ? [] : ['-L', `${start ?? 1},${end ?? ''}`];
  const command = ['blame', '--porcelain', '--no-progress', ...range, commit, '--', file];
  const output = await git.attempt(command);
  if (output.code !== 0 && !output.cut && start !== undefined) {
    const lines = await countLines(git, commit, file);
    if (start > lines) throw new ToolFault(`The file has ${lines} lines, so there is no line ${start}.`);
  }
  return output.code === 0 || output.cut ? output : git.run(command);
}

async function countLines(git: Git, commit: string, file: string): Promise<number> {
  const { stdout } = await git.attempt(['grep', '--text', '--count', '--null', '-e', '', commit, '--', file]);
  return Number(stdout.toString('utf8').split('\0').at(-1) || 0);
}

interface BlameLine {
  readonly line: number;
  readonly hash: string;
  readonly author: string;
  readonly date: string;
  readonly text: string;
}

/** Parses `--porcelain`, which describes each commit only on its first occurrence. */
function parseBlame(output: string): readonly BlameLine[] {
  const commits = new Map<string, { author: string; time: number }>();
  const lines: BlameLine[] = [];
  let hash = '';
  let line = 0;
  for (const row of output.split('\n')) {
    const commit = commits.get(hash);
    const [word = '', ...rest] = row.split(' ');
    if (row.startsWith('\t')) {
      const date = new Date((commit?.time ?? 0) * 1_000).toISOString().slice(0, 10);
      lines.push({ line, hash, author: commit?.author ?? '', date, text: row.slice(1) });
    } else if (/^[0-9a-f]{40,64}$/.test(word)) {
      hash = word;
      line = Number(rest[1]);
      if (!commits.has(hash)) commits.set(hash, { author: '', time: 0 });
    } else if (word === 'author' && commit !== undefined) commit.author = rest.join(' ');
    else if (word === 'author-time' && commit !== undefined) commit.time = Number(rest[0]);
  }
  return lines;
}
