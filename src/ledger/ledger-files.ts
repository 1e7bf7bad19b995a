import { appendFileSync, closeSync, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';

/** The few file operations whose failure the ledger must survive; tests put faults here. */
export interface LedgerFiles {
  /** Creates a file that must not exist yet, for the owner's eyes only. */
  create(path: string): number;
  /** May write less than asked; returns how much. */
  write(fd: number, bytes: Buffer, offset: number, length: number, position: number): number;
  truncate(fd: number, size: number): void;
  sync(fd: number): void;
  close(fd: number): void;
  /** Adds all of it to the end of a run file. */
  append(fd: number, bytes: Buffer): void;
}

export const systemFiles: LedgerFiles = {
  create: (path) => openSync(path, 'wx', 0o600),
  write: writeSync,
  truncate: ftruncateSync,
  sync: fdatasyncSync,
  close: closeSync,
  append: (fd, bytes) => appendFileSync(fd, bytes),
};
