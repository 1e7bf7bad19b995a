import { fstatSync, fsyncSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Clock,
  ensureGuardedFolder,
  type GuardedFolder,
  type GuardedPlace,
  type Logger,
  thisProcess,
} from '../../base/index.ts';
import { copyBytes } from './copy-bytes.ts';
import type { LedgerFiles } from './file-operations.ts';
import { journalName, leftName, parseJournalName } from './journal-name.ts';
import { Utf8Buffer } from './utf8-buffer.ts';

export interface JournalOptions {
  readonly place: GuardedPlace;
  readonly boot: string;
  readonly sync: 'os' | 'always';
  readonly rotateBytes: number;
}

export interface JournalFile {
  name: string;
  /** Open until the file is removed: if it is deleted under a running hub, its bytes are still readable here. */
  fd: number;
  inode: number;
  /** The number of valid bytes; any beyond them are left from a failed write. */
  size: number;
  /** The number of calls and run lines that still need this file: in-flight calls, and lines not in a run file yet. */
  references: number;
}

interface JournalDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files: LedgerFiles;
}

/** This process's journal: one current file, and older ones until nothing needs them. */
export class Journal {
  readonly #deps: JournalDeps;
  readonly #options: JournalOptions;
  readonly #older = new Set<JournalFile>();
  readonly #buffer = new Utf8Buffer(usualBytes);
  #folder: GuardedFolder;
  #current: JournalFile;
  #path: string;
  #number = 1;
  #torn = false;
  #rotationFailed = false;
  #gone = false;
  #restored = 0;
  /** When the path was last confirmed to be this file. */
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: JournalDeps, options: JournalOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#folder = ensureGuardedFolder(options.place.root, options.place.names);
    try {
      this.#current = this.#create(this.#folder, 1);
    } catch (error) {
      this.#folder.close();
      throw error;
    }
    this.#path = join(this.#folder.path, this.#current.name);
  }

  get path(): string {
    return this.#path;
  }

  /** The file was deleted, moved or replaced; the next write tries to restore it. */
  get isGone(): boolean {
    return this.#gone;
  }

  /** How often the journal was restored. */
  get restored(): number {
    return this.#restored;
  }

  /** Buffers text for the next write. */
  add(text: string): void {
    this.#buffer.add(text);
  }

  /**
   * Writes all buffered text and returns the file that has it. On failure it throws, discards
   * the text and leaves the file
   * unchanged.
   */
  write(): JournalFile {
    const { bytes, size } = this.#buffer;
    this.#buffer.clear();
    if (this.#gone) this.#restore();
    else this.#expectThere();
    if (this.#current.size >= this.#options.rotateBytes) this.#rotate();
    const file = this.#current;
    try {
      if (this.#torn) this.#cut();
      this.#writeAll(file.fd, bytes, size, file.size);
    } catch (error) {
      this.#torn = true;
      try {
        this.#cut();
      } catch {
        // Tried again before the next write. Until then a reader sees records of calls that were refused.
      }
      throw error;
    }
    file.size += size;
    return file;
  }

  /** Throws unless every file is where it was created. Thorough and therefore slow: for periodic checks. */
  expectInPlace(): void {
    if (this.#gone) throw goneError();
    const isThere = ({ name, inode }: JournalFile): boolean => this.#folder.stat(name)?.ino === inode;
    if (this.#folder.isInPlace() && isThere(this.#current) && [...this.#older].every(isThere)) return;
    this.#gone = true;
    throw goneError();
  }

  release(file: JournalFile, count: number): void {
    file.references -= count;
    if (file.references === 0 && this.#older.delete(file)) this.#remove(file);
  }

  /** Every file with its number of valid bytes, oldest first. */
  sources(): { readonly path: string; readonly upTo: number }[] {
    return this.#all().map(({ name, size }) => ({ path: join(this.#folder.path, name), upTo: size }));
  }

  /** Leaves files that are still needed for the next start to recover. A clean life leaves none. */
  close(): void {
    for (const file of this.#all()) {
      if (file.references === 0) this.#remove(file);
      else this.#leave(file);
    }
    this.#older.clear();
    this.#folder.close();
  }

  #all(): JournalFile[] {
    return [...this.#older, this.#current];
  }

  /**
   * Before a write: no call may go out if its record would be in a file that nobody can find. A stat costs several
   * microseconds, so its result holds for `trustedMs`. Records written to a deleted file during that time are still
   * readable through its descriptor, and `#restore` copies them.
   */
  #expectThere(): void {
    const { clock, files } = this.#deps;
    const now = clock.monotonic();
    if (now - this.#checkedAt < trustedMs) return;
    this.#checkedAt = now;
    try {
      if (files.inodeOf(this.#path) !== this.#current.inode) throw goneError();
    } catch (error) {
      this.#gone = true;
      throw goneError(error);
    }
  }

  /**
   * Recreates all files in order with their contents. They get new numbers, because the old
   * names may now belong to copies
   * that somebody put there. Numbers that are missing between them stay missing: readers look in the run files then.
   */
  #restore(): void {
    const { root, names } = this.#options.place;
    const folder = ensureGuardedFolder(root, names);
    const [all, made] = [this.#all(), [] as JournalFile[]];
    const further = this.#number + 1 - numberOf(all[0] ?? this.#current);
    try {
      for (const old of all) {
        const file = this.#create(folder, numberOf(old) + further);
        made.push(file);
        copyBytes(this.#deps.files, old, file);
        if (this.#options.sync === 'always') this.#deps.files.sync(file.fd);
      }
    } catch (error) {
      for (const file of made) this.#discard(folder, file);
      folder.close();
      throw error;
    }
    all.forEach((old, index) => {
      this.#removeOld(old);
      // Calls and run lines refer to the file by this object.
      Object.assign(old, made[index], { references: old.references });
    });
    this.#folder.close();
    this.#folder = folder;
    this.#path = join(folder.path, this.#current.name);
    this.#number += further;
    [this.#torn, this.#gone] = [false, false];
    this.#restored++;
    this.#deps.logger.warn('ledger.journal-restored', { file: this.#path, files: made.length });
  }

  /** If only some files were deleted, the others would now exist twice. */
  #removeOld(old: JournalFile): void {
    if (this.#folder.isInPlace() && this.#folder.stat(old.name)?.ino === old.inode) this.#remove(old);
    else this.#deps.files.close(old.fd);
  }

  #create(folder: GuardedFolder, number: number): JournalFile {
    const { files, clock } = this.#deps;
    const { boot, sync } = this.#options;
    const created = new Date(clock.now()).toISOString();
    const owner = thisProcess();
    const name = journalName(created, boot, number);
    const life = { boot, pid: owner.pid, pid_start: owner.start ?? null };
    const bytes = Buffer.from(`${JSON.stringify({ k: 'header', version: 1, ...life, created, file: number })}\n`);
    const fd = files.create(folder, name);
    const file = { name, fd, inode: fstatSync(fd).ino, size: bytes.length, references: 0 };
    try {
      this.#writeAll(fd, bytes, bytes.length, 0);
      // Without it, a power cut may lose the name of a file whose bytes are safe.
      if (sync === 'always') fsyncSync(folder.fd);
    } catch (error) {
      this.#discard(folder, file);
      throw error;
    }
    return file;
  }

  #discard(folder: GuardedFolder, { name, fd }: JournalFile): void {
    this.#deps.files.close(fd);
    folder.removeIfThere(name);
  }

  /** If the next file cannot be created, the journal keeps writing to the current one. */
  #rotate(): void {
    try {
      const next = this.#create(this.#folder, this.#number + 1);
      const old = this.#current;
      this.#number++;
      this.#current = next;
      this.#path = join(this.#folder.path, next.name);
      this.#torn = false;
      this.#rotationFailed = false;
      if (old.references === 0) this.#remove(old);
      else this.#older.add(old);
    } catch (error) {
      if (!this.#rotationFailed) this.#deps.logger.warn('ledger.rotation-failed', { file: this.path, error });
      this.#rotationFailed = true;
    }
  }

  /**
   * Synchronous on purpose: it copies into the page cache, which takes microseconds. A write
   * through the thread pool adds
   * more latency to every call than the whole hop costs.
   */
  #writeAll(fd: number, bytes: Buffer, size: number, position: number): void {
    let written = 0;
    while (written < size) {
      const count = this.#deps.files.write(fd, bytes, written, size - written, position + written);
      if (count === 0) throw new Error('the file system took no bytes');
      written += count;
    }
    if (this.#options.sync === 'always') this.#deps.files.sync(fd);
  }

  #cut(): void {
    this.#deps.files.truncate(this.#current.fd, this.#current.size);
    this.#torn = false;
  }

  #leave({ name, fd }: JournalFile): void {
    this.#deps.files.close(fd);
    try {
      this.#folder.rename(name, leftName(name));
    } catch (error) {
      // Under its own name it is recovered once this process has ended.
      this.#deps.logger.debug('ledger.journal-not-left', { file: name, error });
    }
  }

  #remove({ name, fd }: JournalFile): void {
    this.#deps.files.close(fd);
    try {
      this.#folder.remove(name);
    } catch (error) {
      this.#deps.logger.debug('ledger.journal-not-removed', { file: name, error });
    }
  }
}

/** How long a write trusts that the path still leads to the file it created. */
const trustedMs = 2;

/** More than the calls of one event loop turn usually need. */
const usualBytes = 256 * 1024;

function numberOf({ name }: JournalFile): number {
  return parseJournalName(name)?.number ?? 1;
}

function goneError(cause?: unknown): Error {
  return new Error('the journal was deleted, moved or replaced', { cause });
}
