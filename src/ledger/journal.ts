import { fstatSync, fsyncSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, ensureGuardedFolder, type GuardedFolder, type Logger, thisProcess } from '../base/index.ts';
import { copyBytes } from './copy-bytes.ts';
import { journalName, leftName } from './journal-name.ts';
import type { LedgerFiles } from './ledger-files.ts';
import { journalPlace } from './places.ts';
import { Utf8Buffer } from './utf8-buffer.ts';

export interface JournalOptions {
  readonly workspace: string;
  readonly boot: string;
  readonly sync: 'os' | 'always';
  readonly rotateBytes: number;
}

export interface JournalFile {
  name: string;
  /** Open until the file goes: what was deleted under a running hub can still be read here. */
  fd: number;
  inode: number;
  /** Bytes that are good; what lies behind is the rest of a failed write. */
  size: number;
  /** Calls and run lines that still need this file: open ones, and those no run file has yet. */
  held: number;
}

interface JournalDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files: LedgerFiles;
}

/** This process's own journal: one file at a time, older ones until nobody needs them. */
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
  /** When the path was last seen to be this very file. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: JournalDeps, options: JournalOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#folder = ensureGuardedFolder(options.workspace, journalPlace);
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

  /** Deleted, moved or replaced; the next write tries to put it back. */
  get isGone(): boolean {
    return this.#gone;
  }

  /** How often it was put back. */
  get restored(): number {
    return this.#restored;
  }

  /** For the next write. */
  add(text: string): void {
    this.#buffer.add(text);
  }

  /** Writes all that was added, or throws, forgets it and leaves the file as it was. Returns the file that has it. */
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
        // Tried again before the next write; until then a reader sees records of calls that were refused.
      }
      throw error;
    }
    file.size += size;
    return file;
  }

  /** Throws unless every file is where it was made. Thorough, so for now and then. */
  expectInPlace(): void {
    if (this.#gone) throw goneError();
    const isThere = ({ name, inode }: JournalFile): boolean => this.#folder.stat(name)?.ino === inode;
    if (this.#folder.isInPlace() && isThere(this.#current) && [...this.#older].every(isThere)) return;
    this.#gone = true;
    throw goneError();
  }

  release(file: JournalFile, count: number): void {
    file.held -= count;
    if (file.held === 0 && this.#older.delete(file)) this.#remove(file);
  }

  /** Every file with how far it is good, oldest first. */
  sources(): { readonly path: string; readonly upTo: number }[] {
    return this.#all().map(({ name, size }) => ({ path: join(this.#folder.path, name), upTo: size }));
  }

  /** What somebody still needs is left for the next start to recover; a clean life leaves nothing. */
  close(): void {
    for (const file of this.#all()) {
      if (file.held === 0) this.#remove(file);
      else this.#leave(file);
    }
    this.#older.clear();
    this.#folder.close();
  }

  #all(): JournalFile[] {
    return [...this.#older, this.#current];
  }

  /** Before each write: no call may go out once its record would be in a file that nobody finds. */
  #expectThere(): void {
    const { clock, files } = this.#deps;
    const now = clock.monotonic();
    try {
      // That it is the same file costs three times as much to ask; a copy in its place is found within this time.
      if (now - this.#lookedAt < sameFileMs) {
        files.expect(this.#path);
        return;
      }
      this.#lookedAt = now;
      if (files.inodeOf(this.#path) !== this.#current.inode) throw goneError();
    } catch (error) {
      this.#gone = true;
      throw goneError(error);
    }
  }

  /**
   * Makes all files anew, in their order, with what was in them. They get new numbers: what stands in their place now
   * may be a copy that somebody put there.
   */
  #restore(): void {
    const folder = ensureGuardedFolder(this.#options.workspace, journalPlace);
    const [all, made] = [this.#all(), [] as JournalFile[]];
    try {
      for (const old of all) {
        const file = this.#create(folder, this.#number + made.length + 1);
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
      // Calls and run lines know the file by this object.
      Object.assign(old, made[index], { held: old.held });
    });
    this.#folder.close();
    this.#folder = folder;
    this.#path = join(folder.path, this.#current.name);
    this.#number += made.length;
    [this.#torn, this.#gone] = [false, false];
    this.#restored++;
    this.#deps.logger.warn('ledger.journal-restored', { file: this.#path, files: made.length });
  }

  /** Where only a part was deleted, the rest is there twice now. */
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
    const file = { name, fd, inode: fstatSync(fd).ino, size: bytes.length, held: 0 };
    try {
      this.#writeAll(fd, bytes, bytes.length, 0);
      // Without it a power cut may take the name of a file whose bytes are safe.
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

  /** A next file that cannot be made is no reason to stop: the old one goes on. */
  #rotate(): void {
    try {
      const next = this.#create(this.#folder, this.#number + 1);
      const old = this.#current;
      this.#number++;
      this.#current = next;
      this.#path = join(this.#folder.path, next.name);
      this.#torn = false;
      this.#rotationFailed = false;
      if (old.held === 0) this.#remove(old);
      else this.#older.add(old);
    } catch (error) {
      if (!this.#rotationFailed) this.#deps.logger.warn('ledger.rotation-failed', { file: this.path, error });
      this.#rotationFailed = true;
    }
  }

  /**
   * Synchronous on purpose: it copies into the page cache, which takes microseconds, while a write through the
   * thread pool adds more latency to every call than the whole hop costs.
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
      // Under its own name it is recovered as soon as this process has ended.
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

/** How long a write trusts that the path still leads to the file that it was made for. */
const sameFileMs = 10;

/** More than the calls of one turn usually need. */
const usualBytes = 256 * 1024;

function goneError(cause?: unknown): Error {
  return new Error('the journal was deleted, moved or replaced', { cause });
}
