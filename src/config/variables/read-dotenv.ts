import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Problem } from '../../domain/index.ts';
import type { SourceFiles } from '../files/source-files.ts';
import { toProblem } from '../findings.ts';
import { parseDotEnv } from './parse-dotenv.ts';

/** Values of variables from a file next to the configuration, so that no shell has to export them. */
export interface DotEnv {
  readonly file: string;
  /** False if the file does not exist. */
  readonly present: boolean;
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

export const dotEnvFile = '.env';

/** Read completely or not at all: a part of it would mix with values from the environment. */
export async function readDotEnv(files: Pick<SourceFiles, 'readWithin'>, workspace: string): Promise<DotEnv> {
  const source = await files.readWithin(dotEnvFile);
  if (source.kind === 'absent' || (source.kind === 'unreadable' && (await isPythonEnvironment(workspace)))) {
    return { file: dotEnvFile, present: false, values: new Map(), problems: [] };
  }
  if (source.kind === 'unreadable') return broken(undefined, source.message, source.fix);
  const parsed = parseDotEnv(source.text);
  if (parsed.kind === 'broken') {
    const fix = `Correct ${dotEnvFile} at line ${parsed.line}: NAME=value, with matching quotes if there are any.`;
    return broken(parsed.line, `cannot be parsed at line ${parsed.line}: ${parsed.message}`, fix);
  }
  return { file: dotEnvFile, present: true, values: parsed.values, problems: unreadLines(parsed.unread) };
}

/** Some projects name their Python environment folder `.env`. */
async function isPythonEnvironment(workspace: string): Promise<boolean> {
  return (await stat(join(workspace, dotEnvFile, 'pyvenv.cfg')).catch(() => undefined)) !== undefined;
}

function broken(line: number | undefined, message: string, fix: string): DotEnv {
  const problem = toProblem(dotEnvFile, {
    severity: 'error',
    line,
    message: `${dotEnvFile} ${message}. No variable is taken from it.`,
    fix,
  });
  return { file: dotEnvFile, present: true, values: new Map(), problems: [problem] };
}

/** Other tools allow more than assignments, so this is one warning and nothing more. */
function unreadLines(lines: readonly number[]): Problem[] {
  const [line, ...others] = lines;
  if (line === undefined) return [];
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return [
    toProblem(dotEnvFile, {
      severity: 'warning',
      line,
      message: `${dotEnvFile}: line ${line}${more}, is not NAME=value and is ignored.`,
      fix: 'Write NAME=value, or start a comment with "#".',
    }),
  ];
}
