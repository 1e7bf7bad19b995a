import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Problem } from '../domain/index.ts';
import { parseDotEnv } from './parse-dotenv.ts';
import { toProblem } from './problems.ts';
import type { SourceFiles } from './source-files.ts';

/** Values for variables that stand beside the configuration, so that no shell has to export them. */
export interface DotEnv {
  readonly file: string;
  /** False where there is none. */
  readonly present: boolean;
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

export const dotEnvFile = '.env';

/** Whole or not at all: half of it would mix its values with those of the environment. */
export async function readDotEnv(files: Pick<SourceFiles, 'read'>, workspace: string): Promise<DotEnv> {
  const source = await files.read(dotEnvFile);
  if (source.kind === 'absent' || (source.kind === 'unreadable' && (await isPythonEnvironment(workspace)))) {
    return { file: dotEnvFile, present: false, values: new Map(), problems: [] };
  }
  if (source.kind === 'unreadable') return broken(undefined, source.message, source.fix);
  const parsed = parseDotEnv(source.text);
  if (parsed.kind === 'broken') {
    const fix = `Correct ${dotEnvFile} at line ${parsed.line}: NAME=value, with one quote before and one after if there are any.`;
    return broken(parsed.line, `cannot be parsed at line ${parsed.line}: ${parsed.message}`, fix);
  }
  return { file: dotEnvFile, present: true, values: parsed.values, problems: unreadLines(parsed.unread) };
}

/** Such an environment is a folder that some name so. */
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

/** Other tools' dialects have more than assignments; that is worth one remark and no more. */
function unreadLines(lines: readonly number[]): Problem[] {
  const [line, ...others] = lines;
  if (line === undefined) return [];
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return [
    toProblem(dotEnvFile, {
      severity: 'warning',
      line,
      message: `${dotEnvFile}: line ${line}${more}, is not NAME=value and not read.`,
      fix: 'Write NAME=value, or a "#" in front of a remark.',
    }),
  ];
}
