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
  /** Writes to the end of the file and creates it if necessary. */
  | 'append'
  /** Writes anywhere in an existing file. */
  | 'update'
  /** Fails if the file exists. */
  | 'create';

/** A folder below a root that the operator chose; no level of `names` may be a link. */
export interface GuardedPlace {
  readonly root: string;
  readonly names: readonly string[];
}

export interface GuardedFolderOptions {
  /** For tests: whether to resolve names relative to an open folder, which Node can do only on Linux. */
  readonly anchored?: boolean;
}

interface Level {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/**
 * A folder of the hub below a root that the operator chose. Anyone with write access to the workspace could plant a
 * link and make the hub write anywhere. So no level below the root, and no file in it, may be a link, belong to another
 * user or be writable by others. On Linux, names are resolved relative to the open folder, so nobody can swap a level
 * afterwards. Elsewhere, all levels are checked before each step, and again after a file is opened.
 */
export class GuardedFolder {
  /** The path to show to users. */
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

  /** Opens a folder in this one. Undefined if it does not exist. */
  child(name: string): GuardedFolder | undefined {
    const fd = this.#openFolder(name);
    return fd === undefined ? undefined : this.#enter(name, fd);
  }

  /** Opens a folder in this one and creates it with mode 700 if it does not exist. */
  ensureChild(name: string): GuardedFolder {
    let fd = this.#openFolder(name);
    if (fd === undefined) {
      this.#make(name);
      fd = this.#openFolder(name);
    }
    if (fd !== undefined) return this.#enter(name, fd);
    throw unsafePlace(join(this.path, name), 'disappears as soon as it is made', 'Find out what deletes it.');
  }

  /**
   * Returns a file descriptor. Throws ENOENT if a file to read or update does not exist. With `secret`, other users
   * must not be able to read the file either.
   */
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

  /** Does not follow links. Undefined if nothing has this name. */
  stat(name: string): Stats | undefined {
    return this.#step(name, (at) => lstatSync(at, { throwIfNoEntry: false }));
  }

  list(): string[] {
    return this.#step('', (at) => readdirSync(at)).sort();
  }

  rename(from: string, to: string): void {
    this.#step(from, (at) => renameSync(at, this.#at(to)));
  }

  /** Moves an entry to another folder below the same root. */
  moveTo(other: GuardedFolder, name: string): void {
    this.#step(name, (at) => renameSync(at, other.#at(name)));
  }

  /** Creates a hard link. Throws EEXIST if the new name is taken. */
  link(from: string, to: string): void {
    this.#step(from, (at) => linkSync(at, this.#at(to)));
  }

  /** Throws ENOENT if the file does not exist. */
  remove(name: string): void {
    this.#step(name, (at) => unlinkSync(at));
  }

  removeIfThere(name: string): void {
    this.#step(name, (at) => rmSync(at, { force: true }));
  }

  /** Removes a folder and its contents. Links in it are removed, not followed. */
  removeTree(name: string): void {
    this.#step(name, (at) => rmSync(at, { force: true, recursive: true }));
  }

  /** Whether the path still leads to this same folder, without a link on the way. */
  isInPlace(): boolean {
    return this.#levels.every(({ path, device, inode }, index) => {
      // The operator chose the root, and it may be a link.
      if (index === 0) return true;
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found?.isDirectory() === true && found.dev === device && found.ino === inode;
    });
  }

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

  /** For system calls on the folder itself, such as an fsync that makes its entries durable. */
  get fd(): number {
    return this.#fd;
  }

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
      throw unsafePlace(path, 'is not a folder', 'Move that file away; the folder is created again.');
    }
  }

  #make(name: string): void {
    try {
      this.#step(name, (at) => {
        mkdirSync(at, { mode: folderModes });
        // The umask may have removed more permissions.
        if ((lstatSync(at).mode & 0o777) !== folderModes) chmodSync(at, folderModes);
      });
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
  }

  #expectInPlace(): void {
    if (!this.isInPlace()) throw unsafePlace(this.path, 'was replaced while it was in use', 'Find out what does that.');
  }

  /** Errors show the path that users know. */
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

const removeLink = 'Remove the link; the hub creates the file or folder again.';
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// Without O_NONBLOCK, opening a named pipe would hang the hub.
const fileFlags = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const fileMode = 0o600;

/** Opens the folder at this path below the root. Undefined if it does not exist. */
export function openGuardedFolder(
  root: string,
  names: readonly string[],
  options: GuardedFolderOptions = {},
): GuardedFolder | undefined {
  let folder: GuardedFolder | undefined = openRoot(root, options);
  for (const name of names) {
    folder = stepInto(folder, (parent) => parent.child(name));
    if (folder === undefined) return undefined;
  }
  return folder;
}

/** Opens the folder at this path below the root and creates missing levels with mode 700. */
export function ensureGuardedFolder(
  root: string,
  names: readonly string[],
  options: GuardedFolderOptions = {},
): GuardedFolder {
  let folder = openRoot(root, options);
  for (const name of names) folder = stepInto(folder, (parent) => parent.ensureChild(name));
  return folder;
}

function openRoot(root: string, { anchored = process.platform === 'linux' }: GuardedFolderOptions): GuardedFolder {
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
    // Another process created it first.
    if (errnoOf(error) !== 'EEXIST') throw error;
    return openSync(path, constants.O_RDWR | constants.O_APPEND | fileFlags);
  }
}

function createAt(path: string, flags: number): number {
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | fileFlags | flags, fileMode);
  // The umask may have removed more permissions.
  if ((fstatSync(fd).mode & 0o777) !== fileMode) fchmodSync(fd, fileMode);
  return fd;
}
