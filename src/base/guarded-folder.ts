import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from './errno.ts';
import { checkOwnFile, checkOwnFolder, folderModes, unsafePlace } from './own-files.ts';

export type GuardedAccess =
  | 'read'
  /** At the end of a file, which is made where there is none. */
  | 'append'
  /** Anywhere in a file that exists. */
  | 'update'
  /** A file that must not exist yet. */
  | 'create';

export interface GuardOptions {
  /** For tests: whether names are looked up below an open folder, which only Linux can do from Node. */
  readonly anchored?: boolean;
}

interface Level {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/**
 * A folder of the hub below a root that the operator chose. Whoever may write in the workspace could plant a link and
 * have the hub write anywhere; so no level below the root may be a link, belong to somebody else or be writable by
 * others, and neither may a file in it. On Linux names are looked up below the open folder itself, so that nobody can
 * swap a level afterwards; elsewhere all levels are compared before and after each step.
 */
export class GuardedFolder {
  /** As people know it. */
  readonly path: string;
  readonly #fd: number;
  readonly #anchored: boolean;
  readonly #rootOwner: number;
  readonly #levels: readonly Level[];
  #closed = false;

  constructor(path: string, fd: number, parent: { anchored: boolean; rootOwner: number; levels: readonly Level[] }) {
    this.path = path;
    this.#fd = fd;
    this.#anchored = parent.anchored;
    this.#rootOwner = parent.rootOwner;
    const { dev: device, ino: inode } = fstatSync(fd);
    this.#levels = [...parent.levels, { path, device, inode }];
  }

  /** A folder in it; undefined where there is none. */
  child(name: string): GuardedFolder | undefined {
    const fd = this.#openFolder(name);
    return fd === undefined ? undefined : this.#enter(name, fd);
  }

  /** The same, made for its owner alone where there is none. */
  ensureChild(name: string): GuardedFolder {
    let fd = this.#openFolder(name);
    if (fd === undefined) {
      this.#make(name);
      fd = this.#openFolder(name);
    }
    if (fd !== undefined) return this.#enter(name, fd);
    throw unsafePlace(join(this.path, name), 'disappears as soon as it is made', 'Look who deletes it.');
  }

  /** An open file; throws ENOENT where there is none to read or to update. `secret`: others must not read it either. */
  open(name: string, access: GuardedAccess, { secret = false } = {}): number {
    const path = join(this.path, name);
    const fd = this.#step(name, (at) => openAt(at, access), path);
    try {
      checkOwnFile(path, fstatSync(fd), { rootOwner: this.#rootOwner, secret, shared: access === 'read' });
      if (!this.#anchored) this.#expectInPlace();
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** A link is not followed; undefined where there is nothing. */
  stat(name: string): Stats | undefined {
    return this.#step(name, (at) => lstatSync(at, { throwIfNoEntry: false }));
  }

  list(): string[] {
    return this.#step('', (at) => readdirSync(at)).sort();
  }

  rename(from: string, to: string): void {
    this.#step(from, (at) => renameSync(at, this.#at(to)));
  }

  /** Into another folder of the same root. */
  moveTo(other: GuardedFolder, name: string): void {
    this.#step(name, (at) => renameSync(at, other.#at(name)));
  }

  /** Gives a file a second name; EEXIST where that is taken. */
  link(from: string, to: string): void {
    this.#step(from, (at) => linkSync(at, this.#at(to)));
  }

  /** Throws ENOENT where there is none. */
  remove(name: string): void {
    this.#step(name, (at) => unlinkSync(at));
  }

  removeIfThere(name: string): void {
    this.#step(name, (at) => rmSync(at, { force: true }));
  }

  /** With all that is in it; links in it are removed, not followed. */
  removeTree(name: string): void {
    this.#step(name, (at) => rmSync(at, { force: true, recursive: true }));
  }

  /** Whether its path still leads to this very folder, through no link. */
  isInPlace(): boolean {
    return this.#levels.every(({ path, device, inode }, index) => {
      // The root is the operator's own choice and may be a link.
      if (index === 0) return true;
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found?.isDirectory() === true && found.dev === device && found.ino === inode;
    });
  }

  /** What the file system says of the folder itself. */
  fstat(): Stats {
    return fstatSync(this.#fd);
  }

  fstatExact(): { readonly inode: bigint; readonly born: bigint; readonly changed: bigint } {
    const { ino: inode, birthtimeNs: born, ctimeNs: changed } = fstatSync(this.#fd, { bigint: true });
    return { inode, born, changed };
  }

  chmod(mode: number): void {
    fchmodSync(this.#fd, mode);
  }

  /** For system calls: its file descriptor, for instance to make its names durable. */
  get fd(): number {
    return this.#fd;
  }

  /** May be called twice. */
  close(): void {
    if (!this.#closed) closeSync(this.#fd);
    this.#closed = true;
  }

  #at(name: string): string {
    return join(this.#anchored ? `/proc/self/fd/${this.#fd}` : this.path, name);
  }

  #enter(name: string, fd: number): GuardedFolder {
    const path = join(this.path, name);
    const [anchored, rootOwner, levels] = [this.#anchored, this.#rootOwner, this.#levels];
    try {
      checkOwnFolder(path, fstatSync(fd), rootOwner);
      return new GuardedFolder(path, fd, { anchored, rootOwner, levels });
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  #openFolder(name: string): number | undefined {
    const path = join(this.path, name);
    try {
      return this.#step(name, (at) => openSync(at, folderFlags), path);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT') return undefined;
      if (errno !== 'ENOTDIR' && errno !== 'ELOOP') throw error;
      if (this.stat(name)?.isSymbolicLink() === true) throw unsafePlace(path, 'is a symbolic link', removeLink);
      throw unsafePlace(path, 'is not a folder', 'Move that file away; the folder is made anew.');
    }
  }

  #make(name: string): void {
    try {
      this.#step(name, (at) => {
        mkdirSync(at, { mode: folderModes });
        // The umask may have taken more away.
        if ((lstatSync(at).mode & 0o777) !== folderModes) chmodSync(at, folderModes);
      });
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
  }

  #expectInPlace(): void {
    if (!this.isInPlace()) throw unsafePlace(this.path, 'was replaced while it was in use', 'Look who does that.');
  }

  /** Errors name the path that people know. */
  #step<T>(name: string, act: (at: string) => T, path = join(this.path, name)): T {
    if (!this.#anchored) this.#expectInPlace();
    try {
      return act(this.#at(name));
    } catch (error) {
      if (errnoOf(error) === 'ELOOP') throw unsafePlace(path, 'is a symbolic link', removeLink);
      if (this.#anchored && error instanceof Error) {
        error.message = error.message.replaceAll(`/proc/self/fd/${this.#fd}`, () => this.path);
      }
      throw error;
    }
  }
}

const removeLink = 'Remove the link; what belongs there is made anew.';
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// Without O_NONBLOCK a named pipe in this place would hang the hub.
const fileFlags = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const fileMode = 0o600;

/** The folder with these names below the root; undefined where it is missing. */
export function openGuardedFolder(
  root: string,
  names: readonly string[],
  options: GuardOptions = {},
): GuardedFolder | undefined {
  let folder: GuardedFolder | undefined = openRoot(root, options);
  for (const name of names) {
    folder = stepInto(folder, (parent) => parent.child(name));
    if (folder === undefined) return undefined;
  }
  return folder;
}

/** The same, made for its owner alone where it is missing. */
export function ensureGuardedFolder(root: string, names: readonly string[], options: GuardOptions = {}): GuardedFolder {
  let folder = openRoot(root, options);
  for (const name of names) folder = stepInto(folder, (parent) => parent.ensureChild(name));
  return folder;
}

function openRoot(root: string, { anchored = process.platform === 'linux' }: GuardOptions): GuardedFolder {
  const fd = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return new GuardedFolder(root, fd, { anchored, rootOwner: fstatSync(fd).uid, levels: [] });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function stepInto<T>(parent: GuardedFolder, step: (parent: GuardedFolder) => T): T {
  try {
    return step(parent);
  } finally {
    parent.close();
  }
}

function openAt(path: string, access: GuardedAccess): number {
  switch (access) {
    case 'read':
      return openSync(path, constants.O_RDONLY | fileFlags);
    case 'update':
      return openSync(path, constants.O_RDWR | fileFlags);
    case 'create':
      return createAt(path, 0);
    case 'append':
      return openToAppend(path);
  }
}

function openToAppend(path: string): number {
  try {
    return openSync(path, constants.O_RDWR | constants.O_APPEND | fileFlags);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  try {
    return createAt(path, constants.O_APPEND);
  } catch (error) {
    // Another process was first.
    if (errnoOf(error) !== 'EEXIST') throw error;
    return openSync(path, constants.O_RDWR | constants.O_APPEND | fileFlags);
  }
}

function createAt(path: string, flags: number): number {
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | fileFlags | flags, fileMode);
  // The umask may have taken more away.
  if ((fstatSync(fd).mode & 0o777) !== fileMode) fchmodSync(fd, fileMode);
  return fd;
}
