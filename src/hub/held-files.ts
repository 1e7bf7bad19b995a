import { createHash } from 'node:crypto';
import type { LoadedConfiguration, LoadedSource, SourceText } from '../config/index.ts';

type Sources = LoadedConfiguration['sources'];

/** A file whose last good text stays in force. */
export interface HeldFile {
  readonly file: string;
  readonly unusable: NonNullable<LoadedSource['unusable']>;
  /** Without it only servers would go. */
  readonly dispensable: boolean;
}

/** Files that are part of what is in force and cannot be used as they are on disk. */
export function findHeld(inForce: Sources, disk: Sources): readonly HeldFile[] {
  return [...inForce].flatMap(([file, before]) => {
    if (!before.governs) return [];
    const now = disk.get(file);
    // A file that another one named is looked at only as long as it is named.
    if (now === undefined && before.named === true) return [];
    const unusable = now === undefined ? missing(file) : now.unusable;
    if (unusable === undefined) return [];
    return [{ file, unusable, dispensable: unusable.kind === 'missing' && before.onlyServers }];
  });
}

function missing(file: string): HeldFile['unusable'] {
  return { kind: 'missing', message: `${file} is missing.` };
}

/** What is on disk, with the last good text of those that are held. */
export function withHeld(inForce: Sources, disk: Sources, held: readonly HeldFile[]): Map<string, SourceText> {
  const texts = new Map([...disk].map(([file, { source }]) => [file, source]));
  for (const { file } of held) texts.set(file, inForce.get(file)?.source ?? absent);
  return texts;
}

/** What is in force, with what is on disk for these files alone. */
export function withOnly(inForce: Sources, disk: Sources, files: readonly string[]): Map<string, SourceText> {
  const texts = new Map<string, SourceText>();
  for (const file of new Set([...inForce.keys(), ...disk.keys()])) {
    texts.set(file, (files.includes(file) ? disk : inForce).get(file)?.source ?? absent);
  }
  return texts;
}

const absent: SourceText = { kind: 'absent' };

/** Differs where any file does. */
export function fingerprintOf(sources: Sources): string {
  const hash = createHash('sha256');
  for (const file of [...sources.keys()].sort()) {
    const source = sources.get(file)?.source ?? absent;
    hash.update(JSON.stringify([file, source.kind, source.kind === 'text' ? source.text : '']));
  }
  return hash.digest('hex');
}

/** A file of which another text is on disk than in force. */
export function changedFile(inForce: Sources, disk: Sources): string | undefined {
  const textOf = (sources: Sources, file: string): string | undefined => {
    const source = sources.get(file)?.source;
    return source?.kind === 'text' ? source.text : undefined;
  };
  return [...new Set([...disk.keys(), ...inForce.keys()])].find((file) => textOf(disk, file) !== textOf(inForce, file));
}

/** Since when each text is in force. */
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

/** `08:47`, as the clock on the wall shows it; of another day with its date. */
export function clockTime(ms: number, now: number): string {
  const [at, today] = [new Date(ms), new Date(now)];
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === today.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}
