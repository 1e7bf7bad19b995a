import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { errnoOf } from './errno.ts';

/** The content of a file that somebody else may have put there. */
export type PlainFile =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'absent' }
  | { readonly kind: 'folder' }
  /** A pipe, a socket or a device. */
  | { readonly kind: 'not-regular' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'failed'; readonly errno: string };

/** Reads a regular file of at most so many bytes. Follows links. Never waits, as a named pipe would make it. */
export async function readPlainFile(path: string, maxBytes: number): Promise<PlainFile> {
  try {
    const refused = refusalOf(await stat(path), maxBytes);
    if (refused !== undefined) return refused;
    const handle = await open(path, flags);
    try {
      const replaced = refusalOf(await handle.stat(), maxBytes);
      if (replaced !== undefined) return replaced;
      const parts = new Parts(maxBytes);
      while (parts.add((await handle.read(parts.next, 0, parts.next.length, null)).bytesRead));
      return parts.content;
    } finally {
      await handle.close();
    }
  } catch (error) {
    return failureOf(error);
  }
}

/** The same at once, for small files. */
export function readPlainFileSync(path: string, maxBytes: number): PlainFile {
  try {
    const refused = refusalOf(statSync(path), maxBytes);
    if (refused !== undefined) return refused;
    const fd = openSync(path, flags);
    try {
      const replaced = refusalOf(fstatSync(fd), maxBytes);
      if (replaced !== undefined) return replaced;
      const parts = new Parts(maxBytes);
      while (parts.add(readSync(fd, parts.next, 0, parts.next.length, null)));
      return parts.content;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return failureOf(error);
  }
}

/** Another file may be there after the first look: without O_NONBLOCK, opening a named pipe would block the thread. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

const partBytes = 64 * 1024;

/** The parts of a file. Its size is not relied on: it may grow, and files of the kernel say that they have none. */
class Parts {
  readonly next: Buffer = Buffer.allocUnsafe(partBytes);
  readonly #maxBytes: number;
  readonly #parts: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns whether there may be more to read. */
  add(bytes: number): boolean {
    this.#parts.push(Buffer.from(this.next.subarray(0, bytes)));
    this.#length += bytes;
    return bytes > 0 && this.#length <= this.#maxBytes;
  }

  get content(): PlainFile {
    return this.#length > this.#maxBytes
      ? { kind: 'too-large' }
      : { kind: 'bytes', bytes: Buffer.concat(this.#parts, this.#length) };
  }
}

function refusalOf(found: Stats, maxBytes: number): PlainFile | undefined {
  if (found.isDirectory()) return { kind: 'folder' };
  if (!found.isFile()) return { kind: 'not-regular' };
  return found.size > maxBytes ? { kind: 'too-large' } : undefined;
}

function failureOf(error: unknown): PlainFile {
  const errno = errnoOf(error) ?? 'unknown error';
  if (errno === 'ENOENT') return { kind: 'absent' };
  // A socket.
  return errno === 'ENXIO' ? { kind: 'not-regular' } : { kind: 'failed', errno };
}
