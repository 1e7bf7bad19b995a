import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errnoOf } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';

/** How much of a file may be read or copied. */
export interface ReadLimit {
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** The text of a regular file; undefined if there is none. */
export async function readRegularFile(path: string, limit: ReadLimit): Promise<string | undefined> {
  return withRegularFile(path, limit.maxBytes, async (file, { size }) => {
    const chunks: Buffer[] = [];
    await readChunks(file, { ...limit, path, size }, async (chunk) => {
      chunks.push(Buffer.from(chunk));
    });
    return Buffer.concat(chunks).toString('utf8');
  });
}

/** Copies a regular file to a new one. Returns the number of bytes, 0 if there is no file. */
export async function copyRegularFile(from: string, to: string, limit: ReadLimit): Promise<number> {
  const copied = await withRegularFile(from, limit.maxBytes, async (file, { size, mtimeMs }) => {
    const target = await open(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      const bytes = await readChunks(file, { ...limit, path: from, size }, (chunk) => target.writeFile(chunk));
      // Git trusts index entries for files older than the index. A copy slightly too old is safe; one too new is not.
      const time = Math.floor(mtimeMs - 1) / 1_000;
      await target.utimes(time, time);
      return bytes;
    } finally {
      await target.close();
    }
  });
  return copied ?? 0;
}

/** Refuses a file on which git would block or read without end. Git itself reports a missing file. */
export async function requireRegularFile(path: string, maxBytes: number): Promise<void> {
  await withRegularFile(path, maxBytes, async () => undefined);
}

/** Small enough to notice an abort soon. */
const mostAtOnce = 1024 * 1024;

/** Without O_NONBLOCK, opening a named pipe would block a thread of the hub's pool forever. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

async function withRegularFile<T>(
  path: string,
  maxBytes: number,
  work: (file: FileHandle, entry: Stats) => Promise<T>,
): Promise<T | undefined> {
  const file = await open(path, flags).catch((error: unknown) => {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP' || code === 'ENXIO') throw notRegular(path);
    throw new ToolFault(`Part of the repository cannot be opened (${code ?? 'unknown reason'}): ${path}.`);
  });
  if (file === undefined) return undefined;
  try {
    const entry = await file.stat();
    if (!entry.isFile()) throw notRegular(path);
    if (entry.size > maxBytes) throw tooLarge(path, maxBytes);
    return await work(file, entry);
  } finally {
    await file.close();
  }
}

interface ChunkBounds extends ReadLimit {
  readonly path: string;
  /** The size when the file was opened. */
  readonly size: number;
}

/** Counts the bytes it reads, because the file may grow meanwhile. */
async function readChunks(
  file: FileHandle,
  { path, size, maxBytes, signal }: ChunkBounds,
  take: (chunk: Buffer) => Promise<void>,
): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(size + 1, mostAtOnce));
  for (let total = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return total;
    total += bytesRead;
    if (total > maxBytes) throw tooLarge(path, maxBytes);
    await take(buffer.subarray(0, bytesRead));
  }
}

function notRegular(path: string): ToolFault {
  return new ToolFault(`Part of the repository is not a regular file and is not read: ${path}.`);
}

function tooLarge(path: string, maxBytes: number): ToolFault {
  return new ToolFault(`Part of the repository is larger than ${maxBytes} bytes and is not read: ${path}.`);
}
