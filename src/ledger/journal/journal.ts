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
import { type ChainHead, chainEnd, chained, chainHash, chainStart, noHash, type SegmentHead } from './chain.ts';
import { copyBytes } from './copy-bytes.ts';
import type { LedgerFiles } from './file-operations.ts';
import { journalName, leftName, parseJournalName, sealedName } from './journal-name.ts';
import { Utf8Buffer } from './utf8-buffer.ts';

export interface JournalOptions {
  readonly place: GuardedPlace;
  readonly boot: string;
  readonly sync: 'os' | 'always';
  readonly rotateBytes: number;
  /** The heads of earlier lives that no other life names. */
  readonly after: readonly SegmentHead[];
}

export interface JournalFile {
  name: string;
  /** Open until the file is sealed: if it is deleted under a running hub, its bytes are still readable here. */
  fd: number;
  inode: number;
  headerSize: number;
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

/** This process's journal: one current file, and older ones until nothing needs them. Then they are sealed. */
export class Journal {
  readonly #deps: JournalDeps;
  readonly #options: JournalOptions;
  readonly #older = new Set<JournalFile>();
  readonly #buffer = new Utf8Buffer(usualBytes);
  #folder: GuardedFolder;
  #current: JournalFile;
  #path: string;
  #number = 1;
  #head: ChainHead;
  /** The number of buffered records. */
  #records = 0;
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
      const before = Math.max(0, ...options.after.map(({ seq }) => seq));
      [this.#current, this.#head] = this.#create(this.#folder, 1, before, options.after);
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

  /** The head of the chain after the last write. */
  get head(): ChainHead {
    return this.#head;
  }

  /** Buffers one record for the next write. */
  add(record: string): void {
    if (this.#records++ === 0) this.#buffer.add(noHash);
    this.#buffer.add(record);
  }

  /**
   * Writes all buffered records with their `chain` record, and returns the file that has them. On failure it throws,
   * discards the records and leaves the file unchanged.
   */
  write(): JournalFile {
    const records = this.#records;
    this.#records = 0;
    try {
      if (this.#gone) this.#restore();
      else this.#expectThere();
      // A file with the rest of a failed write is cut first.
      if (this.#current.size >= this.#options.rotateBytes && !this.#torn) this.#rotate();
      this.#writeBatch(this.#current, records);
    } finally {
      this.#buffer.clear();
    }
    return this.#current;
  }

  /** The buffer begins with room for the previous hash, so that one call hashes both. The file gets the bytes after it. */
  #writeBatch(file: JournalFile, records: number): void {
    const seq = this.#head.seq + 1;
    this.#buffer.add(chainStart(seq, records));
    this.#buffer.bytes.write(this.#head.hash, 0, 'latin1');
    const hash = chainHash(this.#buffer.bytes.subarray(0, this.#buffer.size));
    this.#buffer.add(hash);
    this.#buffer.add(chainEnd);
    const { bytes, size } = this.#buffer;
    try {
      if (this.#torn) this.#cut();
      this.#writeAll(file, bytes.subarray(noHash.length, size));
    } catch (error) {
      this.#torn = true;
      try {
        this.#cut();
      } catch {
        // Tried again before the next write. Until then a reader sees records of calls that were refused.
      }
      throw error;
    }
    file.size += size - noHash.length;
    this.#head = { seq, hash };
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
    if (file.references === 0 && this.#older.delete(file)) this.#seal(file);
  }

  /** Every file with its number of valid bytes, oldest first. */
  sources(): { readonly path: string; readonly upTo: number }[] {
    return this.#all().map(({ name, size }) => ({ path: join(this.#folder.path, name), upTo: size }));
  }

  /** Seals its files, and leaves those that are still needed for the next start to recover. */
  close(): void {
    for (const file of this.#all()) {
      if (file.references > 0) this.#leave(file);
      else if (this.#isEmpty(file)) this.#remove(file);
      else this.#seal(file);
    }
    this.#older.clear();
    this.#folder.close();
  }

  /** Has its header alone, and no other file names it. */
  #isEmpty(file: JournalFile): boolean {
    return file === this.#current && file.size === file.headerSize;
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
        const file = this.#createEmpty(folder, numberOf(old) + further);
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
      Object.assign(old, made[index], { references: old.references, headerSize: old.headerSize });
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

  #createEmpty(folder: GuardedFolder, number: number): JournalFile {
    const { files, clock } = this.#deps;
    const name = journalName(new Date(clock.now()).toISOString(), this.#options.boot, number);
    const fd = files.create(folder, name);
    return { name, fd, inode: fstatSync(fd).ino, size: 0, headerSize: 0, references: 0 };
  }

  /** Creates the next file. Its header names the heads before it. */
  #create(
    folder: GuardedFolder,
    number: number,
    seq: number,
    after: readonly SegmentHead[],
  ): readonly [JournalFile, ChainHead] {
    const { boot, sync } = this.#options;
    const owner = thisProcess();
    const life = { boot, pid: owner.pid, pid_start: owner.start ?? null };
    const created = new Date(this.#deps.clock.now()).toISOString();
    const header = `${JSON.stringify({ k: 'header', version: 2, ...life, created, file: number, after })}\n`;
    const { text, hash } = chained(noHash, seq + 1, [header]);
    const bytes = Buffer.from(text);
    const file = this.#createEmpty(folder, number);
    try {
      this.#writeAll(file, bytes);
      // Without it, a power cut may lose the name of a file whose bytes are safe.
      if (sync === 'always') fsyncSync(folder.fd);
    } catch (error) {
      this.#discard(folder, file);
      throw error;
    }
    file.size = bytes.length;
    file.headerSize = bytes.length;
    return [file, { seq: seq + 1, hash }];
  }

  #discard(folder: GuardedFolder, { name, fd }: JournalFile): void {
    this.#deps.files.close(fd);
    folder.removeIfThere(name);
  }

  /** If the next file cannot be created, the journal keeps writing to the current one. */
  #rotate(): void {
    try {
      const old = this.#current;
      const last = { life: this.#options.boot, file: this.#number, ...this.#head };
      const [next, head] = this.#create(this.#folder, this.#number + 1, this.#head.seq, [last]);
      this.#number++;
      [this.#current, this.#head] = [next, head];
      this.#path = join(this.#folder.path, next.name);
      this.#rotationFailed = false;
      if (old.references === 0) this.#seal(old);
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
  #writeAll({ fd, size }: JournalFile, bytes: Buffer): void {
    let written = 0;
    while (written < bytes.length) {
      const count = this.#deps.files.write(fd, bytes, written, bytes.length - written, size + written);
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

  #seal({ name, fd }: JournalFile): void {
    this.#deps.files.close(fd);
    try {
      this.#folder.rename(name, sealedName(name));
    } catch (error) {
      // Under its own name it is sealed once this process has ended.
      this.#deps.logger.debug('ledger.journal-not-sealed', { file: name, error });
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
