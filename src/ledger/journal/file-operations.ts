import { appendFileSync, closeSync, fdatasyncSync, ftruncateSync, lstatSync, writeSync } from 'node:fs';
import type { GuardedFolder } from '../../base/index.ts';

/** The few file operations whose failure the ledger must survive. Tests inject faults here. */
export interface LedgerFiles {
  /** Creates a file that must not exist yet, readable only by its owner. */
  create(folder: GuardedFolder, name: string): number;
  /** The inode of the file at that path; throws if there is none. */
  inodeOf(path: string): number;
  /** Returns the number of bytes written, which may be less than `length`. */
  write(fd: number, bytes: Buffer, offset: number, length: number, position: number): number;
  truncate(fd: number, size: number): void;
  sync(fd: number): void;
  close(fd: number): void;
  /** Appends all bytes to a run file. */
  append(fd: number, bytes: Buffer): void;
}

export const systemFiles: LedgerFiles = {
  create: (folder, name) => folder.open(name, 'create'),
  inodeOf: (path) => lstatSync(path).ino,
  write: writeSync,
  truncate: ftruncateSync,
  sync: fdatasyncSync,
  close: closeSync,
  append: (fd, bytes) => appendFileSync(fd, bytes),
};
