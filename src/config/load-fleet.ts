import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Fleet, Problem } from '../domain/index.ts';
import { assembleFleet, type SourceReading } from './assemble-fleet.ts';
import { freezeDeep } from './freeze-deep.ts';
import { toProblem } from './problems.ts';
import { denyEverything } from './read-policy.ts';
import { readers } from './readers/precedence.ts';
import type { Reader } from './readers/reader.ts';
import { readSourceFile } from './source-file.ts';
import type { VariablesDeps } from './variables.ts';

/** What to watch for changes, relative to the workspace. */
export const configFileNames: readonly string[] = readers.map((reader) => reader.file);

/** Reads every configuration file of the workspace. Whatever they hold, there is a fleet; what is wrong is in it. */
export async function loadFleet(deps: VariablesDeps, options: { readonly workspace: string }): Promise<Fleet> {
  const workspace = resolve(options.workspace);
  const [readings, notices] = await Promise.all([
    Promise.all(readers.map((reader) => readSource(reader, workspace))),
    lookAround(workspace),
  ]);
  return freezeDeep(
    assembleFleet(deps, { workspace, readings: readings.filter((reading) => reading !== undefined), notices }),
  );
}

async function readSource(reader: Reader, workspace: string): Promise<SourceReading | undefined> {
  const { file } = reader;
  const source = await readSourceFile(join(workspace, file));
  if (source.kind === 'absent') return undefined;
  if (source.kind === 'unreadable') return nothingFrom(reader, { message: source.message, fix: source.fix });
  const parsed = reader.parse(source.text);
  if (parsed.kind === 'broken') {
    const { line, column, message } = parsed;
    const fix = `Correct ${file} at line ${line}; an editor with syntax checks helps.`;
    return nothingFrom(reader, {
      line,
      message: `cannot be parsed at line ${line}, column ${column}: ${message}`,
      fix,
    });
  }
  const reading = reader.read(parsed.root, file);
  if (reading.kind === 'read') return { reader, content: reading.content, problems: [] };
  return { ...nothing(reader), problems: [notUsed(reader, toProblem(file, reading.finding))] };
}

function nothingFrom(reader: Reader, found: { line?: number; message: string; fix: string }): SourceReading {
  const { line, message, fix } = found;
  const problem = toProblem(reader.file, { severity: 'error', line, message: `${reader.file} ${message}.`, fix });
  return { ...nothing(reader), problems: [notUsed(reader, problem)] };
}

/** Where the restrictions should have been, all is denied: the other files' servers must not run without them. */
function nothing(reader: Reader): SourceReading {
  const policy = reader.restricts ? denyEverything({ file: reader.file }) : undefined;
  return {
    reader,
    content: { servers: [], findings: [], agents: new Map(), policy, settings: {}, mentions: [] },
    problems: [],
  };
}

function notUsed(reader: Reader, problem: Problem): Problem {
  const consequence = reader.restricts ? 'Nothing of it is used, and every tool is denied.' : 'Nothing of it is used.';
  return { ...problem, message: `${problem.message} ${consequence}` };
}

/** Things that are easy to get wrong and otherwise leave no trace. */
async function lookAround(workspace: string): Promise<Problem[]> {
  const found = await stat(workspace).catch(() => undefined);
  if (!found?.isDirectory()) {
    const message = `The workspace ${workspace} is not a directory that can be read.`;
    return [toProblem('.', { severity: 'error', message, fix: 'Name another directory with --workspace.' })];
  }
  const other = await stat(join(workspace, misspelled)).catch(() => undefined);
  if (other === undefined) return [];
  const message = `${misspelled} is not read, and its rules are not in force.`;
  return [toProblem(misspelled, { severity: 'error', message, fix: 'Rename it to quartermaster.yaml.' })];
}

const misspelled = 'quartermaster.yml';
