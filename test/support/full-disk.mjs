/**
 * Loaded with `node --import` into a hub or a command: a disk that is full while a file says so. The next write takes half of
 * its bytes and then every write fails, as on a real one; so the test needs no right to mount anything.
 */
import fs, { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const sign = process.env.FULL_DISK_SIGN;
const { writeSync, appendFileSync, writeFile } = fs;
let isHalfTaken = false;

function isFull() {
  if (existsSync(sign)) return true;
  isHalfTaken = false;
  return false;
}

function noSpace() {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
}

fs.writeSync = (fd, bytes, offset, length, position) => {
  // Log lines and answers go to pipes, which have no disk.
  if (fd <= 2 || !fs.fstatSync(fd).isFile() || !isFull()) return writeSync(fd, bytes, offset, length, position);
  if (isHalfTaken || length < 2) throw noSpace();
  isHalfTaken = true;
  return writeSync(fd, bytes, offset, length >> 1, position);
};

fs.appendFileSync = (file, data, options) => {
  if (isFull()) throw noSpace();
  appendFileSync(file, data, options);
};

fs.writeFile = (file, data, ...rest) => {
  if (isFull()) rest.at(-1)(noSpace());
  else writeFile(file, data, ...rest);
};

syncBuiltinESMExports();
