import { type FileHandle, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../base/index.ts';
import { type ChainRecord, parseChainLine, type SegmentHead } from './chain.ts';
import { type JournalName, parseJournalName, sealedName } from './journal-name.ts';
import { isMissing, type LineChunk, linesOf, openRegularFile } from './line-chunks.ts';

/** All journal files of a folder, the files of each process life in order. */
export async function journalSegments(folder: string): Promise<JournalName[][]> {
  const lives = new Map<string, JournalName[]>();
  for (const file of await filesIn(folder)) {
    const name = parseJournalName(file);
    if (name === undefined) continue;
    const life = lives.get(name.boot) ?? [];
    life.push(name);
    lives.set(name.boot, life);
  }
  return [...lives.values()].map((life) => life.sort((a, b) => a.number - b.number));
}

/** Opens a segment that may be sealed, and so renamed, meanwhile. Undefined if it is gone. */
export async function openSegment(folder: string, name: JournalName): Promise<FileHandle | undefined> {
  for (const file of [name.file, sealedName(name.original)]) {
    try {
      return await openRegularFile(join(folder, file));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return undefined;
}

/** The complete lines of a segment. Yields nothing if it is gone. */
export async function* segmentLines(folder: string, name: JournalName, from = 0): AsyncGenerator<LineChunk> {
  const handle = await openSegment(folder, name);
  if (handle === undefined) return;
  try {
    yield* linesOf(handle, from);
  } finally {
    await handle.close();
  }
}

export interface SegmentHeader {
  readonly boot: string;
  readonly file: number;
  readonly created: string;
  readonly after: readonly SegmentHead[];
}

/** Undefined for a file of a release without a chain, or if it is damaged. */
export function parseSegmentHeader(line: string): SegmentHeader | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || value.k !== 'header' || value.version !== 2) return undefined;
  const { boot, file, created, after } = value;
  if (typeof boot !== 'string' || typeof file !== 'number' || typeof created !== 'string') return undefined;
  if (!Array.isArray(after) || !after.every(isSegmentHead)) return undefined;
  return { boot, file, created, after };
}

export function isSegmentHead(value: unknown): value is SegmentHead {
  if (!isJsonObject(value)) return false;
  const { life, file, seq, hash } = value;
  const isPlace = typeof life === 'string' && typeof file === 'number' && typeof seq === 'number';
  return isPlace && typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash);
}

export interface SegmentEnds {
  readonly header: SegmentHeader | undefined;
  /** The last record of the file, if that is a `chain` record. */
  readonly last: ChainRecord | undefined;
}

/** Reads the beginning and the end of a segment alone. */
export async function readSegmentEnds(folder: string, name: JournalName): Promise<SegmentEnds | undefined> {
  const handle = await openSegment(folder, name);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const tail = await textAt(handle, Math.max(0, size - tailBytes), Math.min(size, tailBytes));
    const [line = ''] = tail.endsWith('\n') ? tail.slice(0, -1).split('\n').slice(-1) : [];
    return { header: await readHeader(handle, size), last: parseChainLine(line) };
  } finally {
    await handle.close();
  }
}

async function readHeader(handle: FileHandle, size: number): Promise<SegmentHeader | undefined> {
  for (let length = headerBytes; ; length *= 8) {
    const text = await textAt(handle, 0, Math.min(length, size));
    const end = text.indexOf('\n');
    if (end >= 0) return parseSegmentHeader(text.slice(0, end));
    if (length >= Math.min(size, mostHeaderBytes)) return undefined;
  }
}

async function textAt(handle: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.toString('utf8', 0, bytesRead);
}

const tailBytes = 160;
const headerBytes = 1024;
/** A header names one head for each life that ended since the last start, so it is rarely long. */
const mostHeaderBytes = 4 * 1024 * 1024;

async function filesIn(folder: string): Promise<string[]> {
  try {
    // A hub creates only regular files here, so ignore links and pipes.
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
