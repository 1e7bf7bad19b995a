import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, type Logger, thisProcess } from '../base/index.ts';
import { journalName, leftName } from './journal-name.ts';
import type { LedgerFiles } from './ledger-files.ts';
import { Utf8Buffer } from './utf8-buffer.ts';

export interface JournalOptions {
  readonly folder: string;
  readonly boot: string;
  readonly sync: 'os' | 'always';
  readonly rotateBytes: number;
}

export interface JournalFile {
  readonly path: string;
  /** Bytes that are good; what lies behind is the rest of a failed write. */
  size: number;
  /** Calls and run lines that still need this file: open ones, and those no run file has yet. */
  held: number;
}

/** This process's own journal: one file at a time, older ones until nobody needs them. */
export class Journal {
  readonly #deps: { readonly clock: Clock; readonly logger: Logger; readonly files: LedgerFiles };
  readonly #options: JournalOptions;
  readonly #older = new Set<JournalFile>();
  readonly #buffer = new Utf8Buffer(usualBytes);
  #current: JournalFile;
  #fd: number;
  #number = 1;
  #torn = false;
  #rotationFailed = false;

  constructor(deps: { clock: Clock; logger: Logger; files: LedgerFiles }, options: JournalOptions) {
    this.#deps = deps;
    this.#options = options;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    ({ fd: this.#fd, file: this.#current } = this.#create(1));
  }

  get path(): string {
    return this.#current.path;
  }

  /** For the next write. */
  add(text: string): void {
    this.#buffer.add(text);
  }

  /** Writes all that was added, or throws, forgets it and leaves the file as it was. Returns the file that has it. */
  write(): JournalFile {
    if (this.#current.size >= this.#options.rotateBytes) this.#rotate();
    const file = this.#current;
    const { bytes, size } = this.#buffer;
    this.#buffer.clear();
    try {
      if (this.#torn) this.#cut();
      this.#writeAll(this.#fd, bytes, size, file.size);
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

  release(file: JournalFile, count: number): void {
    file.held -= count;
    if (file.held === 0 && this.#older.delete(file)) this.#remove(file);
  }

  /** Every file with how far it is good, oldest first. */
  sources(): { readonly path: string; readonly upTo: number }[] {
    return [...this.#older, this.#current].map((file) => ({ path: file.path, upTo: file.size }));
  }

  /** What somebody still needs is left for the next start to recover; a clean life leaves nothing. */
  close(): void {
    this.#deps.files.close(this.#fd);
    for (const file of [...this.#older, this.#current]) {
      if (file.held === 0) this.#remove(file);
      else this.#leave(file);
    }
    this.#older.clear();
  }

  #create(number: number): { fd: number; file: JournalFile } {
    const { files, clock } = this.#deps;
    const { folder, boot, sync } = this.#options;
    const created = new Date(clock.now()).toISOString();
    const owner = thisProcess();
    const path = join(folder, journalName(created, boot, number));
    const header = {
      k: 'header',
      version: 1,
      boot,
      pid: owner.pid,
      pid_start: owner.start ?? null,
      created,
      file: number,
    };
    const bytes = Buffer.from(`${JSON.stringify(header)}\n`);
    const fd = files.create(path);
    try {
      this.#writeAll(fd, bytes, bytes.length, 0);
      if (sync === 'always') syncFolder(folder);
    } catch (error) {
      files.close(fd);
      unlinkSync(path);
      throw error;
    }
    return { fd, file: { path, size: bytes.length, held: 0 } };
  }

  /** A next file that cannot be made is no reason to stop: the old one goes on. */
  #rotate(): void {
    try {
      const next = this.#create(this.#number + 1);
      const old = this.#current;
      this.#deps.files.close(this.#fd);
      this.#number++;
      this.#fd = next.fd;
      this.#current = next.file;
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
    this.#deps.files.truncate(this.#fd, this.#current.size);
    this.#torn = false;
  }

  #leave(file: JournalFile): void {
    try {
      renameSync(file.path, leftName(file.path));
    } catch (error) {
      // Under its own name it is recovered as soon as this process has ended.
      this.#deps.logger.debug('ledger.journal-not-left', { file: file.path, error });
    }
  }

  #remove(file: JournalFile): void {
    try {
      unlinkSync(file.path);
    } catch (error) {
      this.#deps.logger.debug('ledger.journal-not-removed', { file: file.path, error });
    }
  }
}

/** More than the calls of one turn usually need. */
const usualBytes = 256 * 1024;

/** Without it a power cut may take the name of a file whose bytes are safe. */
function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
