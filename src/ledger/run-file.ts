import { closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, sleep } from '../base/index.ts';
import type { LedgerFiles } from './ledger-files.ts';
import { isMissing, readLineChunks } from './line-chunks.ts';

/**
 * Adds whole lines, or throws. One write for all of them: with O_APPEND other processes may add to the same run.
 * Synchronous like the journal and for the same reason; it happens once for many lines.
 */
export function appendRunLines(files: LedgerFiles, path: string, lines: Buffer): void {
  const fd = openToAppend(path);
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    if (size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== newline) {
      throw new Error('its last line is torn');
    }
    files.append(fd, lines);
  } finally {
    closeSync(fd);
  }
}

/** Takes away a last line without its end, which a crash or a full disk left. */
export async function cutTornLine(clock: Clock, path: string): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r+');
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  try {
    let { size } = await handle.stat();
    let whole = await wholeLines(handle, size);
    while (whole !== size) {
      // It may be another process's write that is still growing: only a length that stands still is torn.
      await sleep(clock, settleMs);
      const now = (await handle.stat()).size;
      if (now === size) return await handle.truncate(whole);
      size = now;
      whole = await wholeLines(handle, size);
    }
  } finally {
    await handle.close();
  }
}

/** The calls that a run file has already. */
export async function readCallIds(path: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { lines } of readLineChunks(path)) {
    for (const line of lines) {
      const id = callIdOf(line);
      // A copy: a slice would keep the text of the whole chunk in memory.
      if (id !== undefined) ids.add(Buffer.from(id, 'latin1').toString('latin1'));
    }
  }
  return ids;
}

const newline = 10;
const settleMs = 25;
const stepBytes = 64 * 1024;

function openToAppend(path: string): number {
  try {
    return openSync(path, 'a+', 0o600);
  } catch (error) {
    if (!isMissing(error)) throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, 'a+', 0o600);
  }
}

/** How many bytes of the file are whole lines. */
async function wholeLines(handle: FileHandle, size: number): Promise<number> {
  let end = size;
  while (end > 0) {
    const begin = Math.max(0, end - stepBytes);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(end - begin), 0, end - begin, begin);
    const at = buffer.subarray(0, bytesRead).lastIndexOf(newline);
    if (at >= 0) return begin + at + 1;
    end = begin;
  }
  return 0;
}

/** The last member of that name is ours: arguments may have one too, but they stand before it. */
function callIdOf(line: string): string | undefined {
  const at = line.lastIndexOf(callIdMember);
  if (at < 0) return undefined;
  const begin = at + callIdMember.length;
  return line.slice(begin, line.indexOf('"', begin));
}

const callIdMember = ',"call_id":"';
