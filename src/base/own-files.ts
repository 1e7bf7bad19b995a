import type { Stats } from 'node:fs';
import { HubError } from './errors.ts';

export const folderModes = 0o700;

export interface OwnFileRules {
  /** Who owns the root above the file. */
  readonly rootOwner: number;
  /** Others must not even read it. */
  readonly secret: boolean;
  /** It may have a second name: nothing is written to it. */
  readonly shared: boolean;
}

/** Throws unless it is a regular file that nobody else could have put there or can change. */
export function checkOwnFile(path: string, found: Stats, rules: OwnFileRules): void {
  if (!found.isFile()) throw unsafePlace(path, 'is not a regular file', 'Move it away; the file is made anew.');
  checkOwner(path, found, rules.rootOwner);
  if (othersMayWrite(found)) {
    throw unsafePlace(path, 'can be written by other users', `Look at what is in it, then run \`chmod 600 ${path}\`.`);
  }
  if (rules.secret && (found.mode & 0o077) !== 0) {
    throw unsafePlace(
      path,
      'can be read by other users',
      `Delete it, and a new one is made; if nobody else can have read it, run \`chmod 600 ${path}\` instead.`,
    );
  }
  if (!rules.shared && found.nlink > 1) {
    throw unsafePlace(path, 'has a second name (a hard link)', 'Move it away; the file is made anew.');
  }
}

export function checkOwnFolder(path: string, found: Stats, rootOwner: number): void {
  checkOwner(path, found, rootOwner);
  if (othersMayWrite(found)) {
    throw unsafePlace(path, 'can be written by other users', `Look at what is in it, then run \`chmod go-w ${path}\`.`);
  }
}

/** A place that must not be used, whatever its contents. */
export function unsafePlace(path: string, what: string, hint: string): HubError {
  return new HubError('CONFIG_INVALID', `${path} ${what}.`, { hint, details: { path, unsafe: true } });
}

/**
 * Ours, or of root, who can do everything anyway. Where the hub itself is root, as in many containers, also of the
 * owner of the root folder, who decides by the configuration in it what the hub runs.
 */
function checkOwner(path: string, { uid }: Stats, rootOwner: number): void {
  const me = process.getuid?.();
  if (me === undefined || uid === me || uid === 0 || (me === 0 && uid === rootOwner)) return;
  throw unsafePlace(
    path,
    'belongs to another user',
    'Run as that user, or move it away; what belongs there is made anew.',
  );
}

/** Many systems give each user a group of their own, by the same number, and let that group write by default. */
function othersMayWrite({ mode, uid, gid }: Stats): boolean {
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== uid);
}
