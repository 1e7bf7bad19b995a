import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { environmentOutside } from '../base/index.ts';
import type { Configuration, Problem, ServerPlan } from '../domain/index.ts';
import {
  type AssembledConfiguration,
  assembleConfiguration,
  type LoadDeps,
  type ReadSource,
} from './assemble-configuration.ts';
import { isOfPlace } from './files/find-files.ts';
import { describeSources, type LoadedSource } from './files/loaded-sources.ts';
import { cannotRead, type SourceText } from './files/source-file.ts';
import { createSourceFiles, type SourceFiles } from './files/source-files.ts';
import { isNull } from './files/source-tree.ts';
import { findUnreadFiles } from './files/unread-files.ts';
import { type Finding, quote, toProblem } from './findings.ts';
import { freezeDeep } from './freeze-deep.ts';
import { readers } from './readers/precedence.ts';
import { emptyContent, type Place, type Reader } from './readers/reader.ts';
import { denyEverything } from './restrictions/read-policy.ts';
import { plannedFiles } from './servers/planned-files.ts';
import type { ServerDraft } from './servers/server-draft.ts';
import type { FoundLiteral } from './variables/literal-secrets.ts';
import { dotEnvFile, readDotEnv } from './variables/read-dotenv.ts';
import { readSecrets, type StoredSecrets } from './variables/read-secrets.ts';

/** The places to watch for changes, relative to the workspace. */
export const watchedPlaces: readonly Place[] = [...readers.map((reader) => reader.place), { file: dotEnvFile }];

/** Whether the hub reads the file, a path in the workspace. */
export function isReadFile(file: string): boolean {
  return watchedPlaces.some((place) => isOfPlace(place, file));
}

/** Reads every configuration file of the workspace. Always returns a configuration, which includes its problems. */
export async function loadConfiguration(
  deps: LoadDeps,
  options: { readonly workspace: string },
): Promise<Configuration> {
  return (await loadWithSources(deps, options)).configuration;
}

export interface LoadedConfiguration {
  readonly configuration: Configuration;
  /** Every file that was read, by path in the workspace, including files that other files refer to. */
  readonly sources: ReadonlyMap<string, LoadedSource>;
  /** The servers that refer to each variable. */
  readonly uses: ReadonlyMap<string, readonly string[]>;
  /** What the valid servers would start or contact. */
  readonly plans: ReadonlyMap<string, ServerPlan>;
  /** Secrets that are written into the files. */
  readonly literals: readonly FoundLiteral[];
}

export interface LoadOptions {
  readonly workspace: string;
  /** Texts that replace the contents on disk. */
  readonly instead?: ReadonlyMap<string, SourceText> | undefined;
  /** Read nothing from disk. */
  readonly only?: boolean | undefined;
}

export async function loadWithSources(deps: LoadDeps, options: LoadOptions): Promise<LoadedConfiguration> {
  const workspace = resolve(options.workspace);
  const files = createSourceFiles(workspace, options);
  const [found, notices, dotEnv, stored] = await Promise.all([
    Promise.all(readers.map((reader) => readPlace(reader, files))),
    lookAround(workspace),
    readDotEnv(files, workspace),
    readSecrets(deps.secrets),
  ]);
  const readSources = found.flat();
  const isNothing = readSources.length === 0 && options.only !== true;
  // What stands for `${PATH}` is not in any plan.
  const env = environmentOutside(workspace, deps.env);
  const assembled = assembleConfiguration(
    { ...deps, env },
    {
      workspace,
      readSources,
      unread: isNothing ? await findUnreadFiles(workspace) : [],
      notices,
      dotEnv,
      stored,
      only: options.only,
    },
  );
  const configuration = freezeDeep(assembled.configuration);
  const sources = describeSources({ files, readSources, dotEnv, configuration });
  return {
    configuration,
    uses: assembled.uses,
    literals: assembled.literals,
    plans: await withFiles(assembled, workspace),
    sources: new Map([...sources, ...secretSource(deps, stored)]),
  };
}

async function withFiles(
  { configuration, plans }: AssembledConfiguration,
  workspace: string,
): Promise<ReadonlyMap<string, ServerPlan>> {
  const complete = new Map<string, ServerPlan>();
  for (const [name, plan] of plans) {
    const server = configuration.servers.get(name);
    if (server?.kind !== 'ready') continue;
    complete.set(name, { ...plan, files: await plannedFiles(server.spec, workspace) });
  }
  return complete;
}

/** Counts as a source, so that a changed secret is a changed configuration. It has no text that could be held. */
function secretSource({ secrets }: LoadDeps, { digest }: StoredSecrets): [string, LoadedSource][] {
  if (secrets === undefined) return [];
  return [[secrets.file, { source: { kind: 'text', text: digest }, governs: false, onlyServers: false }]];
}

async function readPlace(reader: Reader, files: SourceFiles): Promise<ReadSource[]> {
  const found = await files.find(reader.place);
  if (found.kind === 'unreadable') {
    const source = cannotRead(found.code);
    return source.kind === 'unreadable' ? [unusable(reader, found.folder, failure(found.folder, source))] : [];
  }
  const readSources = await Promise.all(found.files.map((file) => readSource(reader, files, file)));
  return readSources.filter((readResult) => readResult !== undefined);
}

async function readSource(reader: Reader, files: SourceFiles, file: string): Promise<ReadSource | undefined> {
  const source = await files.read(file);
  if (source.kind === 'absent') return undefined;
  if (source.kind === 'unreadable') {
    const finding = failure(file, source);
    // The file may belong to another program that keeps it private for a reason.
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
  const readResult = await reader.read(parsed.root, file, files.nearby);
  if (readResult.kind === 'foreign') return undefined;
  if (readResult.kind === 'refused') return nothingFrom(reader, file, readResult.finding);
  if (readResult.content.servers.length > mostServers) return nothingFrom(reader, file, failure(file, tooMany));
  const isEmpty = source.text.trim() === '' || isNull(parsed.root);
  return { reader, file, content: readResult.content, problems: [], isEmpty };
}

/** In one file. Each is resolved, shown and approved on its own. */
const mostServers = 1_000;

const tooMany = {
  message: `has more than ${mostServers} servers`,
  fix: 'Remove the servers that you do not use, or divide them among several files.',
};

function failure(
  file: string,
  found: { readonly line?: number; readonly message: string; readonly fix: string },
): Finding {
  return { severity: 'error', line: found.line, message: `${file} ${found.message}.`, fix: found.fix };
}

function nothingFrom(reader: Reader, file: string, finding: Finding): ReadSource {
  const name = reader.serverOf?.(file);
  if (name === undefined) return unusable(reader, file, finding);
  // If it were absent, a server of that name in a weaker file would take its place. A mistake must not switch to
  // another program.
  const line = finding.line ?? 1;
  const own = { ...finding, server: name, message: `Server ${quote(name)}: ${finding.message}` };
  const draft: ServerDraft = { name, line, field: '', findings: [own], body: undefined, unclear: true };
  return { reader, file, content: { ...emptyContent, servers: [draft] }, problems: [], unusable: finding.message };
}

/**
 * If a file is unusable, everything is denied: it may restrict servers of other files, and they must not run without
 * that. A file that seems to be another program's is an exception.
 */
function unusable(reader: Reader, file: string, finding: Finding): ReadSource {
  const denies = reader.restricts || finding.severity === 'error';
  const policy = denies ? denyEverything({ file }) : undefined;
  // True with and without a running hub, which keeps its last configuration.
  const consequence = denies
    ? 'Until it is corrected, a hub that starts denies every tool.'
    : 'The whole file is ignored.';
  const problem = toProblem(file, { ...finding, message: `${finding.message} ${consequence}` });
  return { reader, file, content: { ...emptyContent, policy }, problems: [problem], unusable: finding.message };
}

/** Mistakes that are easy to make and otherwise leave no trace. */
async function lookAround(workspace: string): Promise<Problem[]> {
  const found = await stat(workspace).catch(() => undefined);
  if (!found?.isDirectory()) {
    const message = `The workspace ${workspace} is not a directory that can be read.`;
    return [toProblem('.', { severity: 'error', message, fix: 'Name another directory with --workspace.' })];
  }
  const other = await stat(join(workspace, misspelled)).catch(() => undefined);
  if (other === undefined) return [];
  const message = `${misspelled} is ignored, and its rules do not apply.`;
  return [toProblem(misspelled, { severity: 'error', message, fix: 'Rename it to quartermaster.yaml.' })];
}

const misspelled = 'quartermaster.yml';
