import { createHash } from 'node:crypto';
import type { LoadedConfiguration, SourceText } from '../../config/index.ts';

type Sources = LoadedConfiguration['sources'];

/** The active files, with only these read from disk. */
export function withOnly(inForce: Sources, disk: Sources, files: readonly string[]): Map<string, SourceText> {
  const texts = new Map<string, SourceText>();
  for (const file of new Set([...inForce.keys(), ...disk.keys()])) {
    texts.set(file, (files.includes(file) ? disk : inForce).get(file)?.source ?? absent);
  }
  return texts;
}

const absent: SourceText = { kind: 'absent' };

/** Changes when any file changes. */
export function fingerprintOf(sources: Sources): string {
  const hash = createHash('sha256');
  for (const file of [...sources.keys()].sort()) {
    const source = sources.get(file)?.source ?? absent;
    hash.update(JSON.stringify([file, source.kind, source.kind === 'text' ? source.text : '']));
  }
  return hash.digest('hex');
}

/** A file whose text on disk differs from the active one. */
export function changedFile(inForce: Sources, disk: Sources): string | undefined {
  const textOf = (sources: Sources, file: string): string | undefined => {
    const source = sources.get(file)?.source;
    return source?.kind === 'text' ? source.text : undefined;
  };
  return [...new Set([...disk.keys(), ...inForce.keys()])].find((file) => textOf(disk, file) !== textOf(inForce, file));
}

/** The time since which each text is active. */
export function datesOf(
  before: ReadonlyMap<string, number>,
  [old, next]: readonly [Sources, Sources],
  now: number,
): Map<string, number> {
  return new Map(
    [...next].map(([file, { source }]) => {
      const was = old.get(file)?.source;
      const isSame = was?.kind === 'text' && source.kind === 'text' && was.text === source.text;
      return [file, (isSame ? before.get(file) : undefined) ?? now];
    }),
  );
}
