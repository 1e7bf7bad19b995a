import type { LoadedConfiguration } from '../config/index.ts';
import { type TrustItem, trustItems } from '../trust/index.ts';
import type { ApprovedTexts } from './approved-texts.ts';
import { findEmptied, withRetained } from './retained-file.ts';
import { pinnedTexts, type Records } from './trust-records.ts';

/**
 * Items that are the approved version of another branch only because files are missing, empty or unreadable. An approved
 * branch is there with its files; what is left when somebody deletes a file is not a choice of that version, and absence
 * never opens.
 */
export async function findUndone(
  items: readonly TrustItem[],
  loaded: LoadedConfiguration,
  records: Records,
): Promise<ReadonlySet<string>> {
  const undone = new Set<string>();
  const restored = new Map<ApprovedTexts['texts'], ReadonlySet<string>>();
  for (const item of items) {
    const counting = records.counting(item);
    const isApproved = counting.some(({ hash }) => hash === item.hash);
    if (!isApproved || counting[0]?.hash === item.hash) continue;
    const texts = await pinnedTexts(counting, records);
    const hashes = texts && (restored.get(texts.texts) ?? (await hashesWith(texts, loaded, records)));
    if (texts !== undefined && hashes !== undefined) restored.set(texts.texts, hashes);
    // Without the texts nobody can tell, and the later version was stricter perhaps.
    if (hashes?.has(item.hash) !== true) undone.add(item.hash);
  }
  return undone;
}

/** The items if the files that are gone were as they were approved. */
async function hashesWith(
  texts: ApprovedTexts,
  loaded: LoadedConfiguration,
  { place, loads }: Records,
): Promise<ReadonlySet<string>> {
  const { sources } = await loads.load(texts);
  const emptied = findEmptied(sources, loaded.sources);
  const whole = emptied.length === 0 ? loaded : await loads.fresh(withRetained(sources, loaded.sources, emptied));
  return new Set(trustItems(whole, place.key).map(({ hash }) => hash));
}
