import type { LoadedConfiguration, LoadedSource, SourceText } from '../config/index.ts';
import type { Problem } from '../domain/index.ts';

type Sources = LoadedConfiguration['sources'];

/** A file whose last good text stays in force. */
export interface RetainedFile {
  readonly file: string;
  readonly unusable: NonNullable<LoadedSource['unusable']>;
  /** Whether only servers would be lost without it. */
  readonly dispensable: boolean;
}

/** Active files that cannot be used as they are on disk. */
export function findRetained(inForce: Sources, disk: Sources): readonly RetainedFile[] {
  return [...inForce].flatMap(([file, before]) => {
    if (!before.governs) return [];
    const now = disk.get(file);
    // A referenced file counts only as long as another file refers to it.
    if (now === undefined && before.named === true) return [];
    const unusable = now === undefined ? missing(file) : now.unusable;
    if (unusable === undefined) return [];
    return [{ file, unusable, dispensable: unusable.kind === 'missing' && before.onlyServers }];
  });
}

function missing(file: string): RetainedFile['unusable'] {
  return { kind: 'missing', message: `${file} is missing.` };
}

/** The files on disk, with the last good text of retained ones. */
export function withRetained(
  inForce: Sources,
  disk: Sources,
  retained: readonly RetainedFile[],
): Map<string, SourceText> {
  const texts = new Map([...disk].map(([file, { source }]) => [file, source]));
  for (const { file } of retained) texts.set(file, inForce.get(file)?.source ?? absent);
  return texts;
}

const absent: SourceText = { kind: 'absent' };

/** Files without which, or without whose content, something that was approved would be undone. */
export function findEmptied(approved: Sources, disk: Sources): readonly RetainedFile[] {
  const unusable = findRetained(approved, disk).filter((each) => each.unusable.kind !== 'broken');
  const hollow = [...approved].flatMap(([file, before]): RetainedFile[] => {
    const now = disk.get(file);
    if (!before.governs || now === undefined || now.governs || now.unusable !== undefined) return [];
    return [{ file, unusable: { kind: 'empty', message: `${file} says nothing any more.` }, dispensable: false }];
  });
  return [...unusable, ...hollow];
}

/** `asks`: the absence needs approval too. */
export function retainedNotice(
  { file, unusable }: RetainedFile,
  { time, asks }: { readonly time: string; readonly asks: boolean },
): Problem {
  const { kind, message } = unusable;
  const severity = kind === 'broken' ? 'error' : 'warning';
  const fix = kind === 'broken' ? 'Correct it.' : `${fixes[kind]}${asks ? ' `qm trust` approves that.' : ''}`;
  return { severity, file, message: `Still using the configuration from ${time}: ${message}`, fix };
}

const fixes = {
  missing: 'Put it back, or run `qm reload` to go on without it.',
  empty: 'Write it again, or run `qm reload` to go on without what was in it.',
  unreadable: 'Make it readable again, or remove it and run `qm reload`.',
} as const;

/** `08:47` in local time, with the date if it is not today. */
export function clockTime(ms: number, now: number): string {
  const [at, today] = [new Date(ms), new Date(now)];
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === today.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}
