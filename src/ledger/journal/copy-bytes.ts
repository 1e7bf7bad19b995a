import { readSync } from 'node:fs';
import type { LedgerFiles } from './file-operations.ts';

interface OpenFile {
  readonly fd: number;
  size: number;
}

/** Appends the valid bytes of one open file to another. Throws unless it copies all of them. */
export function copyBytes(files: LedgerFiles, from: OpenFile, to: OpenFile): void {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (let position = 0; position < from.size; ) {
    const wanted = Math.min(chunk.length, from.size - position);
    const count = readSync(from.fd, chunk, 0, wanted, position);
    if (count === 0) throw new Error('the deleted journal is shorter than it was');
    position += count;
    for (let written = 0; written < count; ) {
      const step = files.write(to.fd, chunk, written, count - written, to.size);
      if (step === 0) throw new Error('the file system took no bytes');
      written += step;
      to.size += step;
    }
  }
}

const chunkBytes = 256 * 1024;
