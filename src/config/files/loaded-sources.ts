import { affectsAll, type Configuration, placeOf } from '../../domain/index.ts';
import type { ReadSource } from '../assemble-configuration.ts';
import type { DotEnv } from '../variables/read-dotenv.ts';
import type { SourceText } from './source-file.ts';
import type { SourceFiles } from './source-files.ts';

/** A file that was read during a load. */
export interface LoadedSource {
  readonly source: SourceText;
  /** Why nothing of it is used. */
  readonly unusable?: Unusable;
  /** Whether the configuration would differ without it. */
  readonly governs: boolean;
  /** Whether it contains servers and nothing else. */
  readonly onlyServers: boolean;
  /** Another file refers to it. */
  readonly named?: true;
}

export interface Unusable {
  readonly kind: 'missing' | 'empty' | 'unreadable' | 'broken';
  /** A sentence that names the file. */
  readonly message: string;
}

export interface DescribeOptions {
  readonly files: Pick<SourceFiles, 'taken' | 'named'>;
  readonly readSources: readonly ReadSource[];
  readonly dotEnv: DotEnv;
  readonly configuration: Configuration;
}

export function describeSources(options: DescribeOptions): ReadonlyMap<string, LoadedSource> {
  const readSources = new Map(options.readSources.map((readResult) => [readResult.file, readResult]));
  return new Map(
    [...options.files.taken].map(([file, source]) => [file, describe(file, source, readSources.get(file), options)]),
  );
}

function describe(
  file: string,
  source: SourceText,
  readResult: ReadSource | undefined,
  { files, dotEnv, configuration }: DescribeOptions,
): LoadedSource {
  const unusable = faultOf(file, source, readResult, configuration);
  const nothing = { source, governs: false, onlyServers: false };
  if (unusable !== undefined) return { ...nothing, unusable };
  // An environment file, a secret, or an unrelated file that has the name of one of ours.
  if (readResult === undefined) {
    if (files.named.has(file)) return { ...nothing, governs: true, named: true };
    return { ...nothing, governs: file === dotEnv.file && dotEnv.values.size > 0 };
  }
  const { servers, agents, roles, policy, shadow, permissions, environment, settings, lock } = readResult.content;
  const rules = policy ?? shadow ?? permissions ?? environment ?? lock;
  const restricts = agents.size > 0 || roles.size > 0 || rules !== undefined;
  const governsMore = restricts || Object.keys(settings).length > 0;
  return { source, governs: governsMore || servers.length > 0, onlyServers: !governsMore && servers.length > 0 };
}

function faultOf(
  file: string,
  source: SourceText,
  readResult: ReadSource | undefined,
  configuration: Configuration,
): Unusable | undefined {
  if (source.kind === 'absent') return { kind: 'missing', message: `${file} is missing.` };
  if (source.kind === 'unreadable') return { kind: 'unreadable', message: `${file} ${source.message}.` };
  if (source.text.trim() === '' || readResult?.isEmpty) return { kind: 'empty', message: `${file} is empty.` };
  if (readResult?.unusable !== undefined) return { kind: 'broken', message: readResult.unusable };
  const mistake = configuration.problems.find((each) => each.file === file && affectsAll(each));
  return mistake === undefined ? undefined : { kind: 'broken', message: `${placeOf(mistake)}: ${mistake.message}` };
}
