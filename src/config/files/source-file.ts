import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { readPlainFile } from '../../base/index.ts';

export type SourceText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly message: string; readonly fix: string };

/** Reads the whole file, or reports that it is absent or cannot be used. */
export async function readSourceFile(path: string): Promise<SourceText> {
  const found = await readPlainFile(path, maxBytes);
  switch (found.kind) {
    case 'bytes':
      return sourceText(found.bytes);
    case 'absent':
      return (await isLink(path)) ? cannotRead('ENOENT') : { kind: 'absent' };
    case 'folder':
      return unreadable('is a directory', 'Replace it with a file.');
    case 'not-regular':
      return unreadable('is not a regular file', 'Replace it with a regular file.');
    case 'too-large':
      return tooLarge;
    case 'failed':
      return cannotRead(found.errno);
  }
}

/** Reads a file that another file refers to. The target of a link must be inside the workspace too. */
export async function readNearby(workspace: string, path: string): Promise<SourceText> {
  const asked = resolve(workspace, path);
  // Users mean the home folder by "~".
  if (/^~(?:\/|$)/.test(path) || !isInside(workspace, asked)) return outside;
  const [home, found] = await Promise.all([workspace, asked].map((each) => realpath(each).catch(() => undefined)));
  return home !== undefined && found !== undefined && !isInside(home, found) ? outside : readSourceFile(asked);
}

export function cannotRead(code: string): SourceText {
  if (code === 'EACCES' || code === 'EPERM') {
    return unreadable('cannot be read: permission denied', 'Give the user who runs the hub the right to read it.');
  }
  if (code === 'ENOENT') return unreadable('is a link to a file that does not exist', 'Correct the link or remove it.');
  return unreadable(`cannot be read (${code})`, 'Check the file and the disk it is on.');
}

const maxBytes = 5 * 1024 * 1024;

const tooLarge = unreadable('is over 5 MB', 'Check that this is the right file.');

const outside = unreadable('is outside the workspace and is not read', 'Put it inside, or use a variable.');

/** Whether the path is the folder or below it, without resolving links. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}

function unreadable(message: string, fix: string): SourceText {
  return { kind: 'unreadable', message, fix };
}

/** The content of a file, unless it is too large or no text. */
export function sourceText(bytes: Uint8Array): SourceText {
  if (bytes.byteLength > maxBytes) return tooLarge;
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return unreadable('is not valid UTF-8', 'Save it as UTF-8 (editors often call the wrong one UTF-16 or Latin-1).');
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}
