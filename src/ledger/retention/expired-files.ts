import type { Retention } from '../../domain/index.ts';

export interface DatedFile {
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  readonly bytes: number;
  /** False for a file that is still needed, whatever its age. */
  readonly isRemovable: boolean;
}

export interface ExpiredFile<File extends DatedFile> {
  readonly file: File;
  readonly why: string;
}

/** The files to remove, oldest first: those that are too old, and as many as make the others fit. */
export function expiredFiles<File extends DatedFile>(
  files: readonly File[],
  { days, megabytes }: Retention,
  /** Undefined: none is too old. */
  now: number | undefined,
): ExpiredFile<File>[] {
  const oldestFirst = [...files].sort((a, b) => a.changedAt - b.changedAt);
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const expired: ExpiredFile<File>[] = [];
  for (const file of oldestFirst) {
    const isOld = now !== undefined && file.changedAt < now - days * dayMs;
    const isTooMuch = bytes > megabytes * 1024 * 1024;
    if (!isOld && !isTooMuch) break;
    if (!file.isRemovable) continue;
    expired.push({ file, why: isOld ? `older than ${days} days` : `more than ${megabytes} MB` });
    bytes -= file.bytes;
  }
  return expired;
}

const dayMs = 86_400_000;
