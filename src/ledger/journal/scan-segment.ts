import { createHash, type Hash } from 'node:crypto';
import { type ChainRecord, chainStart, noHash, parseChainLine } from './chain.ts';

/** One journal write, as the file has it. */
export interface ScannedBatch {
  readonly chain: ChainRecord;
  readonly lines: readonly string[];
  /** Whether the hash and the count fit the bytes before them. */
  readonly isWhole: boolean;
  /** The position after its `chain` record. */
  readonly end: number;
}

/** The part of a file after its last `chain` record. */
export interface ScannedRest {
  readonly lines: readonly string[];
  /** The number of bytes up to the last complete line. */
  readonly wholeBytes: number;
  readonly tornBytes: number;
  /** Of the last `chain` record; undefined if there is none. */
  readonly last: ChainRecord | undefined;
  /** Covers the last hash and the complete lines after it. */
  readonly hash: Hash;
}

/** Fills the buffer from that position on and returns the number of bytes, 0 at the end of the file. */
export type ReadAt = (buffer: Buffer, position: number) => number | Promise<number>;

/** Checks the chain of one file, batch by batch, and returns the rest that has no `chain` record. */
export async function scanSegment(
  readAt: ReadAt,
  onBatch: (batch: ScannedBatch) => void | Promise<void>,
  upTo = Infinity,
): Promise<ScannedRest> {
  let last: ChainRecord | undefined;
  let hash = createHash('sha256').update(noHash);
  let lines: string[] = [];
  let [position, wholeBytes] = [0, 0];
  let torn: Buffer[] = [];
  while (position < upTo) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, upTo - position));
    const bytesRead = await readAt(chunk, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const bytes = chunk.subarray(0, bytesRead);
    let from = 0;
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, from)) {
      const line = torn.length === 0 ? bytes.subarray(from, at) : Buffer.concat([...torn, bytes.subarray(from, at)]);
      torn = [];
      from = at + 1;
      wholeBytes += line.length + 1;
      const text = line.toString('utf8');
      const chain = parseChainLine(text);
      if (chain === undefined) {
        lines.push(text);
        hash.update(line).update('\n');
        continue;
      }
      const made = hash.update(chainStart(chain.seq, chain.records)).digest('hex');
      const isWhole = made === chain.hash && chain.records === lines.length;
      await onBatch({ chain, lines, isWhole, end: wholeBytes });
      last = chain;
      hash = createHash('sha256').update(chain.hash);
      lines = [];
    }
    if (from < bytes.length) torn.push(bytes.subarray(from));
  }
  const tornBytes = torn.reduce((sum, part) => sum + part.length, 0);
  return { lines, wholeBytes, tornBytes, last, hash };
}

const newline = 10;
const chunkBytes = 256 * 1024;
