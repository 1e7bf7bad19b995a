import type { SegmentHead } from './chain.ts';
import { journalSegments, readSegmentEnds } from './segments.ts';

/**
 * The heads of sealed lives that no header names yet. A new life names them all, so that one chain leads through all
 * lives, also through those that ran at the same time.
 */
export async function openHeads(folder: string): Promise<SegmentHead[]> {
  const named = new Set<string>();
  const heads: SegmentHead[] = [];
  for (const life of await journalSegments(folder)) {
    for (const name of life) {
      const ends = await readSegmentEnds(folder, name);
      for (const { hash } of ends?.header?.after ?? []) named.add(hash);
      if (name !== life.at(-1) || life.some(({ holder }) => holder !== 'sealed')) continue;
      if (ends?.last === undefined) continue;
      const { seq, hash } = ends.last;
      heads.push({ life: name.boot, file: name.number, seq, hash });
    }
  }
  return heads.filter(({ hash }) => !named.has(hash));
}
