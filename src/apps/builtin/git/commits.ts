import type { ToolAnswer } from '../../serving/index.ts';
import type { GitOutput } from './run-git.ts';
import { cutNote, fieldsOf, shortHash } from './text.ts';

interface Commit {
  readonly hash: string;
  readonly author: string;
  readonly email: string;
  readonly date: string;
  readonly subject: string;
}

/** A field ends with NUL, which none of them can hold. */
export const commitFormat: readonly string[] = ['-z', '--format=tformat:%H%x00%aN%x00%aE%x00%aI%x00%s'];
const fieldsOfOne = 5;

export interface CommitsAnswerOptions {
  readonly limit: number;
  readonly maxBytes: number;
  /** What is said where there are none. */
  readonly none: string;
  /** How to ask for less. */
  readonly narrower: string;
}

/** Commits as `commitFormat` shows them; git was asked for one more than the limit, to see whether there are more. */
export function commitsAnswer(
  output: GitOutput,
  { limit, maxBytes, none, narrower }: CommitsAnswerOptions,
): ToolAnswer {
  const all = parseCommits(fieldsOf(output));
  const commits = all.slice(0, limit);
  const more = output.cut || all.length > limit;
  const lines = commits.map(
    ({ hash, date, author, email, subject }) => `${shortHash(hash)} ${date} ${author} <${email}>\n    ${subject}`,
  );
  if (output.cut) lines.push(cutNote(maxBytes, narrower));
  else if (more) lines.push(`[There are more than ${limit}. Give a larger limit, or ask for less. ${narrower}]`);
  return { text: lines.length === 0 ? none : lines.join('\n'), structured: { commits, more } };
}

function parseCommits(fields: readonly string[]): readonly Commit[] {
  const commits: Commit[] = [];
  for (let at = 0; at + fieldsOfOne <= fields.length; at += fieldsOfOne) {
    const [hash = '', author = '', email = '', date = '', subject = ''] = fields.slice(at, at + fieldsOfOne);
    commits.push({ hash, author, email, date, subject });
  }
  return commits;
}
