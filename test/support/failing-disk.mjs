/**
 * Loaded into a command with `node --import`: new files below FAILING_DISK fail with the error of DISK_ERROR, as on a disk
 * that is full (ENOSPC, upon writing) or read-only (EROFS, upon opening). So no test needs the right to mount anything.
 */
import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { FAILING_DISK: folder, DISK_ERROR: code } = process.env;
const { open } = promises;

const failure = (syscall) => Object.assign(new Error(`${code}: injected, ${syscall}`), { code, syscall });

promises.open = async (path, flags, mode) => {
  if (flags !== 'wx' || !String(path).startsWith(folder)) return open(path, flags, mode);
  if (code === 'EROFS') throw failure('open');
  const file = await open(path, flags, mode);
  file.writeFile = async (bytes) => {
    await file.write(bytes.subarray(0, bytes.length >> 1));
    throw failure('write');
  };
  return file;
};

syncBuiltinESMExports();
