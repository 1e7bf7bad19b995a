import { constants, type FileHandle, open } from 'node:fs/promises';
import { errnoOf } from '../../base/index.ts';

export interface LineChunk {
  readonly lines: readonly string[];
  /** The position after the last of the lines. */
  readonly end: number;
}

/**
 * Yields the complete lines of a file in chunks, without an unterminated last line. Yields nothing if there is no file.
 */
export async function* readLineChunks(path: string, from = 0, upTo = Infinity): AsyncGenerator<LineChunk> {
  const handle = await openIfThere(path);
  if (handle === undefined) return;
  try {
    yield* linesOf(handle, from, upTo);
  } finally {
    await handle.close();
  }
}

/** The same for a file that is open. */
export async function* linesOf(handle: FileHandle, from = 0, upTo = Infinity): AsyncGenerator<LineChunk> {
  let rest: Buffer[] = [];
  let position = from;
  const readAt = async (at: number): Promise<Buffer> => {
    if (at >= upTo) return noBytes;
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, upTo - at));
    return chunk.subarray(0, (await handle.read(chunk, 0, chunk.length, at)).bytesRead);
  };
  let next = readAt(position);
  try {
    for (;;) {
      const bytes = await next;
      if (bytes.length === 0) return;
      position += bytes.length;
      // While the reader works on these lines, the disk works on the next.
      next = readAt(position);
      // It may fail before it is awaited.
      next.catch(() => {});
      const newline = bytes.lastIndexOf(10);
      if (newline < 0) {
        rest.push(bytes);
        continue;
      }
      const whole = Buffer.concat([...rest, bytes.subarray(0, newline)]);
      rest = [bytes.subarray(newline + 1)];
      yield { lines: whole.toString('utf8').split('\n'), end: position - bytes.length + newline + 1 };
    }
  } finally {
    // The file must not be closed under a read. Its result no longer matters.
    await next.catch(() => {});
  }
}

const noBytes = Buffer.alloc(0);

/** Small enough for the text to be collected young; larger chunks would fill the heap's large-object space. */
const chunkBytes = 64 * 1024;

/** Follows no link, and does not hang on a named pipe. */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await handle.stat();
    if (found.isFile()) return handle;
    const code = found.isDirectory() ? 'EISDIR' : 'EINVAL';
    throw Object.assign(new Error(`${path} is not a regular file.`), { code });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await openRegularFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT';
}
