import { closeSync, fdatasyncSync, ftruncateSync, readSync } from 'node:fs';
import type { GuardedFolder } from '../../base/index.ts';
import { chainEnd, chainStart } from './chain.ts';
import type { LedgerFiles } from './file-operations.ts';
import { scanSegment } from './scan-segment.ts';

export interface SealFacts {
  /** The process life that seals. */
  readonly by: string;
  /** When, ISO 8601. */
  readonly ts: string;
  /** Records to add before the end of the file. */
  readonly records: readonly string[];
}

/**
 * Ends the file of a process that died with a `chain` record. An incomplete line is cut. Complete lines without a `chain`
 * record stay, because a record too many is better than one too few; a `sealed` record tells of both.
 */
export async function sealSegment(
  files: LedgerFiles,
  folder: GuardedFolder,
  file: string,
  { by, ts, records }: SealFacts,
): Promise<void> {
  const fd = folder.open(file, 'update');
  try {
    const read = (buffer: Buffer, position: number): number => readSync(fd, buffer, 0, buffer.length, position);
    const rest = await scanSegment(read, () => {});
    const { lines, tornBytes, wholeBytes, last, hash } = rest;
    if (tornBytes > 0) ftruncateSync(fd, wholeBytes);
    const isTorn = lines.length > 0 || tornBytes > 0;
    const sealed = `{"k":"sealed","ts":"${ts}","by":"${by}","lines":${lines.length},"cut":${tornBytes}}\n`;
    const added = isTorn ? [...records, sealed] : records;
    if (added.length === 0) return;
    const text = added.join('') + chainStart((last?.seq ?? 0) + 1, lines.length + added.length);
    append(files, fd, wholeBytes, Buffer.from(text + hash.update(text).digest('hex') + chainEnd));
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function append(files: LedgerFiles, fd: number, position: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) {
    const count = files.write(fd, bytes, written, bytes.length - written, position + written);
    if (count === 0) throw new Error('the file system took no bytes');
    written += count;
  }
}
