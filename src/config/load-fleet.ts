import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Fleet, Problem } from '../domain/index.ts';
import { assembleFleet, type SourceReading } from './assemble-fleet.ts';
import { freezeDeep } from './freeze-deep.ts';
import { describeSources, type LoadedSource } from './loaded-sources.ts';
import { type Finding, quote, toProblem } from './problems.ts';
import { dotEnvFile, readDotEnv } from './read-dotenv.ts';
import { denyEverything } from './read-policy.ts';
import { readers } from './readers/precedence.ts';
import { emptyContent, type Place, type Reader } from './readers/reader.ts';
import type { ServerDraft } from './server-draft.ts';
import { cannotRead, type SourceText } from './source-file.ts';
import { createSourceFiles, type SourceFiles } from './source-files.ts';
import { isNull } from './source-tree.ts';
import type { VariablesDeps } from './variables.ts';

/** What to watch for changes, relative to the workspace. */
export const watchedPlaces: readonly Place[] = [...readers.map((reader) => reader.place), { file: dotEnvFile }];

/** Reads every configuration file of the workspace. Whatever they hold, there is a fleet; what is wrong is in it. */
export async function loadFleet(deps: VariablesDeps, options: { readonly workspace: string }): Promise<Fleet> {
  return (await loadConfiguration(deps, options)).fleet;
}

export interface LoadedConfiguration {
  readonly fleet: Fleet;
  /** Every file that was looked at, by its path in the workspace, also those that other files name. */
  readonly sources: ReadonlyMap<string, LoadedSource>;
}

export interface LoadOptions {
  readonly workspace: string;
  /** Texts that take the place of what is on disk. */
  readonly instead?: ReadonlyMap<string, SourceText>;
}

export async function loadConfiguration(deps: VariablesDeps, options: LoadOptions): Promise<LoadedConfiguration> {
  const workspace = resolve(options.workspace);
  const files = createSourceFiles(workspace, options.instead);
  const [found, notices, dotEnv] = await Promise.all([
    Promise.all(readers.map((reader) => readPlace(reader, files))),
    lookAround(workspace),
    readDotEnv(files, workspace),
  ]);
  const readings = found.flat();
  const fleet = freezeDeep(assembleFleet(deps, { workspace, readings, notices, dotEnv }));
  return { fleet, sources: describeSources({ files, readings, dotEnv, fleet }) };
}

async function readPlace(reader: Reader, files: SourceFiles): Promise<SourceReading[]> {
  const found = await files.find(reader.place);
  if (found.kind === 'unreadable') {
    const source = cannotRead(found.code);
    return source.kind === 'unreadable' ? [unusable(reader, found.folder, failure(found.folder, source))] : [];
  }
  const readings = await Promise.all(found.files.map((file) => readSource(reader, files, file)));
  return readings.filter((reading) => reading !== undefined);
}

async function readSource(reader: Reader, files: SourceFiles, file: string): Promise<SourceReading | undefined> {
  const source = await files.read(file);
  if (source.kind === 'absent') return undefined;
  if (source.kind === 'unreadable') {
    const finding = failure(file, source);
    // It may well be somebody else's, who keeps it from us for a reason.
    return nothingFrom(reader, file, reader.mayBeOurs === undefined ? finding : { ...finding, severity: 'warning' });
  }
  if (reader.mayBeOurs?.(source.text) === false) return undefined;
  const parsed = reader.parse(source.text, file);
  if (parsed.kind === 'broken') {
    const { line, column, message } = parsed;
    const found = {
      line,
      message: `cannot be parsed at line ${line}, column ${column}: ${message}`,
      fix: `Correct ${file} at line ${line}; an editor with syntax checks helps.`,
    };
    return nothingFrom(reader, file, failure(file, found));
  }
  const reading = await reader.read(parsed.root, file, files.nearby);
  if (reading.kind === 'foreign') return undefined;
  const isEmpty = source.text.trim() === '' || isNull(parsed.root);
  if (reading.kind === 'read') return { reader, file, content: reading.content, problems: [], isEmpty };
  return nothingFrom(reader, file, reading.finding);
}

function failure(
  file: string,
  found: { readonly line?: number; readonly message: string; readonly fix: string },
): Finding {
  return { severity: 'error', line: found.line, message: `${file} ${found.message}.`, fix: found.fix };
}

function nothingFrom(reader: Reader, file: string, finding: Finding): SourceReading {
  const name = reader.serverOf?.(file);
  if (name === undefined) return unusable(reader, file, finding);
  // Absent it would make room for a weaker file's server of that name: a mistake must not switch to another program.
  const line = finding.line ?? 1;
  const own = { ...finding, server: name, message: `Server ${quote(name)}: ${finding.message}` };
  const draft: ServerDraft = { name, line, field: '', findings: [own], body: undefined, unclear: true };
  return { reader, file, content: { ...emptyContent, servers: [draft] }, problems: [], unusable: finding.message };
}

/** Where the restrictions should have been, all is denied: the other files' servers must not run without them. */
function unusable(reader: Reader, file: string, finding: Finding): SourceReading {
  const policy = reader.restricts ? denyEverything({ file }) : undefined;
  const consequence = reader.restricts ? 'Nothing of it is used, and every tool is denied.' : 'Nothing of it is used.';
  const problem = toProblem(file, { ...finding, message: `${finding.message} ${consequence}` });
  return { reader, file, content: { ...emptyContent, policy }, problems: [problem], unusable: finding.message };
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
