import type { ToolOutput } from '../../serving/index.ts';
import type { GitOutput } from './run-git.ts';
import { cutNote, gitFieldsOf, shortHash } from './text.ts';

interface Commit {
  readonly hash: string;
  readonly author: string;
  readonly email: string;
  readonly date: string;
  readonly subject: string;
}

/** Each field ends with NUL, which none can contain. */
export const commitFormat: readonly string[] = ['-z', '--format=tformat:%H%x00%aN%x00%aE%x00%aI%x00%s'];
const fieldsOfOne = 5;

export interface CommitsAnswerOptions {
  readonly limit: number;
  readonly maxBytes: number;
  /** The text if there are no commits. */
  readonly none: string;
  /** How to narrow the request. */
  readonly narrower: string;
}

/** Formats commits printed with `commitFormat`. Git was asked for one more than the limit, to detect further ones. */
export function commitsAnswer(
  output: GitOutput,
  { limit, maxBytes, none, narrower }: CommitsAnswerOptions,
): ToolOutput {
  const all = parseCommits(gitFieldsOf(output));
  const commits = all.slice(0, limit);
  const more = output.cut || all.length > limit;
  const lines = commits.map(
    ({ hash, date, author, email, subject }) => `${shortHash(hash)} ${date} ${author} <${email}>\n    ${subject}`,
  );
  if (output.cut) lines.push(cutNote(maxBytes, narrower));
  else if (more) lines.push(`[There are more than ${limit}. Give a larger limit or narrow the request. ${narrower}]`);
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
