import type { LoadedConfiguration, SourceText } from '../config/index.ts';
import type { TrustItem } from '../trust/index.ts';
import type { ConfigurationTrust } from './configuration-trust.ts';
import { findRetained, type RetainedFile, withRetained } from './retained-file.ts';

/** The files to begin with. */
export interface StartingFiles {
  readonly loaded: LoadedConfiguration;
  /** Files whose approved text is used instead of what is on disk. */
  readonly retained: readonly RetainedFile[];
  /** When their text was approved. */
  readonly at: number;
}

/**
 * A file that was approved and is missing, empty or unreadable at the start has its approved text, as it would have if it
 * had vanished while the hub was running. A file of nothing but servers may be missing: they are removed.
 */
export async function retainApproved(
  load: (instead: ReadonlyMap<string, SourceText>) => Promise<LoadedConfiguration>,
  trust: ConfigurationTrust,
  disk: LoadedConfiguration,
): Promise<StartingFiles> {
  const nothing = { loaded: disk, retained: [], at: 0 };
  const approved = await trust.approvedBefore();
  if (approved === undefined) return nothing;
  const { sources } = approved.loaded;
  const all = findRetained(sources, disk.sources).filter(({ unusable }) => unusable.kind !== 'broken');
  if (all.length === 0) return nothing;
  const using = async (retained: readonly RetainedFile[]): Promise<Candidate> => {
    const loaded = retained.length === 0 ? disk : await load(withRetained(sources, disk.sources, retained));
    return { loaded, retained, hashes: hashesOf(await trust.itemsOf(loaded)) };
  };
  const most = await using(all);
  const kept = all.filter(({ dispensable }) => !dispensable);
  const least = kept.length === all.length ? most : await using(kept);
  const chosen = [...least.hashes].every((hash) => most.hashes.has(hash)) ? least : most;
  // Nothing that was approved depends on the files.
  if (isSame(chosen.hashes, hashesOf(await trust.itemsOf(disk)))) return nothing;
  return { loaded: chosen.loaded, retained: chosen.retained, at: approved.at };
}

interface Candidate extends Pick<StartingFiles, 'loaded' | 'retained'> {
  readonly hashes: ReadonlySet<string>;
}

function hashesOf(items: readonly TrustItem[]): ReadonlySet<string> {
  return new Set(items.map(({ hash }) => hash));
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((hash) => other.has(hash));
}
