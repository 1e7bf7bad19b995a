import { hash } from 'node:crypto';

/** The chain up to one journal write. Whoever keeps it elsewhere can tell later whether anything before it changed. */
export interface ChainHead {
  /** The number of the write. */
  readonly seq: number;
  /** SHA-256, as hexadecimal digits. */
  readonly hash: string;
}

/** The last head of a journal file, as the header of a later file names it. */
export interface SegmentHead extends ChainHead {
  readonly life: string;
  readonly file: number;
}

/** Stands for the previous hash at the beginning of a file, whose header names the heads before it. */
export const noHash: string = '0'.repeat(64);

/**
 * A `chain` record ends every journal write. Its hash covers the hash before it and all bytes after that record, up to
 * the place of the hash itself. So it also covers the sequence and the count.
 */
export function chainStart(seq: number, records: number): string {
  return `{"k":"chain","seq":${seq},"n":${records},"hash":"`;
}

export const chainEnd = '"}\n';

export function chainHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** The records with their `chain` record. */
export function chained(previous: string, seq: number, records: readonly string[]): { text: string; hash: string } {
  const covered = records.join('') + chainStart(seq, records.length);
  const made = chainHash(Buffer.from(previous + covered));
  return { text: covered + made + chainEnd, hash: made };
}

export interface ChainRecord extends ChainHead {
  readonly records: number;
}

/** Undefined unless the line is exactly what a hub writes. */
export function parseChainLine(line: string): ChainRecord | undefined {
  const [, seq, records, made] = chainPattern.exec(line) ?? [];
  return made === undefined ? undefined : { seq: Number(seq), records: Number(records), hash: made };
}

const chainPattern = /^\{"k":"chain","seq":(\d{1,15}),"n":(\d{1,15}),"hash":"([0-9a-f]{64})"\}$/;
