import { accessSync, appendFileSync, closeSync, fdatasyncSync, ftruncateSync, lstatSync, writeSync } from 'node:fs';
import type { GuardedFolder } from '../base/index.ts';

/** The few file operations whose failure the ledger must survive; tests put faults here. */
export interface LedgerFiles {
  /** Creates a file that must not exist yet, for the owner's eyes only. */
  create(folder: GuardedFolder, name: string): number;
  /** Throws unless something is at that path; the cheapest question that there is. */
  expect(path: string): void;
  /** Which file is at that path; throws where there is none. */
  inodeOf(path: string): number;
  /** May write less than asked; returns how much. */
  write(fd: number, bytes: Buffer, offset: number, length: number, position: number): number;
  truncate(fd: number, size: number): void;
  sync(fd: number): void;
  close(fd: number): void;
  /** Adds all of it to the end of a run file. */
  append(fd: number, bytes: Buffer): void;
}

export const systemFiles: LedgerFiles = {
  create: (folder, name) => folder.open(name, 'create'),
  expect: (path) => accessSync(path),
  inodeOf: (path) => lstatSync(path).ino,
  write: writeSync,
  truncate: ftruncateSync,
  sync: fdatasyncSync,
  close: closeSync,
  append: (fd, bytes) => appendFileSync(fd, bytes),
};
