import type { Stats } from 'node:fs';
import { HubError } from './errors.ts';

export const folderModes = 0o700;

export interface OwnFileRules {
  /** The owner of the root folder above the file. */
  readonly rootOwner: number;
  /** Other users must not be able to read the file. */
  readonly secret: boolean;
  /** Hard links are allowed, because the file is only read. */
  readonly shared: boolean;
}

/** Throws unless this is a regular file that no other user can have put there or can change. */
export function checkOwnFile(path: string, found: Stats, rules: OwnFileRules): void {
  if (!found.isFile()) throw unsafePlace(path, 'is not a regular file', 'Move it away; the file is created again.');
  checkOwner(path, found, rules.rootOwner);
  if (othersMayWrite(found)) {
    throw unsafePlace(path, 'can be written by other users', `Check its content, then run \`chmod 600 ${path}\`.`);
  }
  if (rules.secret && (found.mode & 0o077) !== 0) {
    throw unsafePlace(
      path,
      'can be read by other users',
      `Run \`chmod 600 ${path}\`. If somebody else can have read it, replace the keys or tokens in it too.`,
    );
  }
  if (!rules.shared && found.nlink > 1) {
    throw unsafePlace(path, 'has a second name (a hard link)', 'Move it away; the file is created again.');
  }
}

export function checkOwnFolder(path: string, found: Stats, rootOwner: number): void {
  checkOwner(path, found, rootOwner);
  if (othersMayWrite(found)) {
    throw unsafePlace(path, 'can be written by other users', `Check its content, then run \`chmod go-w ${path}\`.`);
  }
}

/** The error for a path that must not be used, whatever its contents. */
export function unsafePlace(path: string, what: string, hint: string): HubError {
  return new HubError('CONFIG_INVALID', `${path} ${what}.`, { hint, details: { path, unsafe: true } });
}

/**
 * The owner must be this user or root, who can do everything anyway. If the hub runs as root, as in many containers,
 * the owner of the root folder is accepted too: its configuration decides what the hub runs.
 */
function checkOwner(path: string, { uid }: Stats, rootOwner: number): void {
  const me = process.getuid?.();
  if (me === undefined || uid === me || uid === 0 || (me === 0 && uid === rootOwner)) return;
  throw unsafePlace(path, 'belongs to another user', 'Run as that user, or move it away; the hub creates it again.');
}

/** Many systems give each user a private group with the same number and make files group-writable by default. */
function othersMayWrite({ mode, uid, gid }: Stats): boolean {
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== uid);
}
