import { isJsonObject } from '../../base/index.ts';
import type { ChainHead, ChainRecord, SegmentHead } from '../journal/chain.ts';
import type { JournalName } from '../journal/journal-name.ts';
import { type ScannedBatch, scanSegment } from '../journal/scan-segment.ts';
import { isSegmentHead, openSegment, parseSegmentHeader } from '../journal/segments.ts';
import type { LedgerFinding } from './ledger-finding.ts';

/** One journal file after all its writes were checked. */
export interface CheckedSegment {
  readonly name: JournalName;
  /** The number in its header: it keeps it when a deleted file is restored under another name. */
  readonly file: number;
  readonly after: readonly SegmentHead[];
  readonly last: ChainRecord | undefined;
  readonly created: string | undefined;
}

export interface CheckContext {
  readonly folder: string;
  /** Whether a living process writes the file. */
  readonly isInUse: boolean;
  readonly found: (finding: LedgerFinding) => void;
  /** For each write, in order. */
  readonly onHead: (head: ChainHead, lines: readonly string[]) => void;
  readonly onPruned: (pruned: PrunedSegment) => void;
}

export interface PrunedSegment extends SegmentHead {
  readonly why: string;
}

/** Undefined if the file is gone by now. */
export async function checkSegment(context: CheckContext, name: JournalName): Promise<CheckedSegment | undefined> {
  const handle = await openSegment(context.folder, name);
  if (handle === undefined) return undefined;
  const { found } = context;
  const file = name.original;
  let first: ScannedBatch | undefined;
  let seq: number | undefined;
  try {
    const readAt = async (buffer: Buffer, position: number): Promise<number> =>
      (await handle.read(buffer, 0, buffer.length, position)).bytesRead;
    const rest = await scanSegment(readAt, (batch) => {
      first ??= batch;
      const isNext = seq === undefined || batch.chain.seq === seq + 1;
      if (!batch.isWhole || !isNext) found({ kind: 'changed', file, seq: batch.chain.seq });
      seq = batch.chain.seq;
      context.onHead(batch.chain, batch.lines);
      readSpecialRecords(context, file, batch);
    });
    const hasRest = rest.lines.length > 0 || rest.tornBytes > 0;
    if (hasRest && name.holder === 'sealed') found({ kind: 'changed', file, seq: (seq ?? 0) + 1 });
    else if (name.holder !== 'sealed' && !context.isInUse) found({ kind: 'unfinished', file, seq: seq ?? 0 });
    return segmentOf(context, name, first, rest.last);
  } finally {
    await handle.close();
  }
}

function segmentOf(
  { found }: CheckContext,
  name: JournalName,
  first: ScannedBatch | undefined,
  last: ChainRecord | undefined,
): CheckedSegment {
  const header = parseSegmentHeader(first?.lines[0] ?? '');
  if (first !== undefined && header === undefined) found({ kind: 'unchained', file: name.original });
  const begin = Math.max(0, ...(header?.after ?? []).map(({ seq }) => seq)) + 1;
  const isOther = header !== undefined && (first?.chain.seq !== begin || header.boot !== name.boot);
  if (isOther) found({ kind: 'changed', file: name.original, seq: first?.chain.seq ?? 0 });
  return { name, file: header?.file ?? name.number, after: header?.after ?? [], last, created: header?.created };
}

function readSpecialRecords({ found, onPruned }: CheckContext, file: string, { lines, chain }: ScannedBatch): void {
  for (const line of lines) {
    if (!line.startsWith('{"k":"sealed"') && !line.startsWith('{"k":"pruned"')) continue;
    const record = parse(line);
    if (record === undefined) continue;
    const { ts, lines: kept, cut, why } = record;
    if (record.k === 'pruned') {
      if (isSegmentHead(record)) onPruned({ ...record, why: typeof why === 'string' ? why : '' });
    } else if (typeof ts === 'string' && typeof kept === 'number' && typeof cut === 'number') {
      found({ kind: 'sealed', file, seq: chain.seq, at: ts, lines: kept, cut });
    }
  }
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
