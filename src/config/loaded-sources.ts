import { type Fleet, placeOf } from '../domain/index.ts';
import type { SourceReading } from './assemble-fleet.ts';
import type { DotEnv } from './read-dotenv.ts';
import type { SourceText } from './source-file.ts';
import type { SourceFiles } from './source-files.ts';

/** One file that a load looked at. */
export interface LoadedSource {
  readonly source: SourceText;
  /** Why nothing of it is used. */
  readonly unusable?: Unusable;
  /** Whether the configuration would be another one without it. */
  readonly governs: boolean;
  /** It holds servers and nothing else. */
  readonly onlyServers: boolean;
  /** Another file names it. */
  readonly named?: true;
}

export interface Unusable {
  readonly kind: 'missing' | 'empty' | 'unreadable' | 'broken';
  /** A sentence that names the file. */
  readonly message: string;
}

export interface DescribeOptions {
  readonly files: Pick<SourceFiles, 'taken' | 'named'>;
  readonly readings: readonly SourceReading[];
  readonly dotEnv: DotEnv;
  readonly fleet: Fleet;
}

export function describeSources(options: DescribeOptions): ReadonlyMap<string, LoadedSource> {
  const readings = new Map(options.readings.map((reading) => [reading.file, reading]));
  return new Map(
    [...options.files.taken].map(([file, source]) => [file, describe(file, source, readings.get(file), options)]),
  );
}

function describe(
  file: string,
  source: SourceText,
  reading: SourceReading | undefined,
  { files, dotEnv, fleet }: DescribeOptions,
): LoadedSource {
  const unusable = faultOf(file, source, reading, fleet);
  const nothing = { source, governs: false, onlyServers: false };
  if (unusable !== undefined) return { ...nothing, unusable };
  // An environment, a secret; or another's file that only has a name of ours.
  if (reading === undefined) {
    if (files.named.has(file)) return { ...nothing, governs: true, named: true };
    return { ...nothing, governs: file === dotEnv.file && dotEnv.values.size > 0 };
  }
  const { servers, agents, roles, policy, settings } = reading.content;
  const governsMore = agents.size > 0 || roles.size > 0 || policy !== undefined || Object.keys(settings).length > 0;
  return { source, governs: governsMore || servers.length > 0, onlyServers: !governsMore && servers.length > 0 };
}

function faultOf(
  file: string,
  source: SourceText,
  reading: SourceReading | undefined,
  fleet: Fleet,
): Unusable | undefined {
  if (source.kind === 'absent') return { kind: 'missing', message: `${file} is missing.` };
  if (source.kind === 'unreadable') return { kind: 'unreadable', message: `${file} ${source.message}.` };
  if (source.text.trim() === '' || reading?.isEmpty) return { kind: 'empty', message: `${file} is empty.` };
  if (reading?.unusable !== undefined) return { kind: 'broken', message: reading.unusable };
  const mistake = fleet.problems.find((each) => each.file === file && each.severity === 'error' && !each.server);
  return mistake === undefined ? undefined : { kind: 'broken', message: `${placeOf(mistake)}: ${mistake.message}` };
}
