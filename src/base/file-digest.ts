import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** The SHA-256 of a regular file; why there is none otherwise. */
export type FileDigest =
  | { readonly kind: 'digest'; readonly sha256: string }
  | { readonly kind: 'too-large' }
  /** Missing, unreadable, or not a regular file. */
  | { readonly kind: 'no-file' };

export async function digestFile(path: string, maxBytes: number): Promise<FileDigest> {
  // Without O_NONBLOCK, a named pipe would block a thread of the pool forever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (handle === undefined) return { kind: 'no-file' };
  try {
    const found = await handle.stat();
    if (!found.isFile()) return { kind: 'no-file' };
    if (found.size > maxBytes) return { kind: 'too-large' };
    const hash = createHash('sha256');
    for await (const chunk of handle.createReadStream({ autoClose: false, end: maxBytes })) hash.update(chunk);
    return { kind: 'digest', sha256: hash.digest('hex') };
  } catch {
    return { kind: 'no-file' };
  } finally {
    await handle.close();
  }
}
