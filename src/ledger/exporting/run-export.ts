import { type Clock, sleep } from '../../base/index.ts';
import type { LedgerPlaces } from '../places.ts';
import type { ExportFormat } from './export-formats.ts';
import { type ExportPositions, exportWrites } from './export-writes.ts';

export interface ExportOptions {
  readonly format: ExportFormat;
  readonly positions: ExportPositions;
  readonly from?: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
  /** Resolves when the receiver has the text. */
  readonly send: (text: string) => Promise<void>;
  /** Called after each `send`, so that an export that stops is taken up after it. */
  readonly onAcknowledged: (positions: ExportPositions) => Promise<void>;
}

/** Exports the journal in batches and returns the number of lines. Follows it until the signal aborts. */
export async function runExport(
  { clock }: { readonly clock: Clock },
  places: LedgerPlaces,
  options: ExportOptions,
): Promise<number> {
  const { format, positions, from = 0, follow, signal, send, onAcknowledged } = options;
  const read = new Map(positions);
  let lines: string[] = [];
  let [characters, total, isNew, { learn }] = [0, 0, false, format];
  const flush = async (): Promise<void> => {
    if (lines.length > 0) await send(`${lines.join('\n')}\n`);
    total += lines.length;
    [lines, characters, isNew] = [[], 0, false];
    for (const life of positions.keys()) if (!read.has(life)) positions.delete(life);
    for (const [life, seq] of read) positions.set(life, seq);
    await onAcknowledged(positions);
  };
  for (;;) {
    await exportWrites(places, { positions: read, from, learn }, async (write) => {
      if (signal.aborted) return;
      const made = format.lines(write);
      isNew = true;
      lines.push(...made);
      characters += made.reduce((sum, line) => sum + line.length, 0);
      read.set(write.life, write.chain.seq);
      if (lines.length >= batchLines || characters >= batchCharacters) await flush();
    });
    if (isNew) await flush();
    learn = undefined;
    if (!follow || signal.aborted) return total;
    await sleep(clock, pollMs, signal);
  }
}

const batchLines = 500;
const batchCharacters = 1024 * 1024;
const pollMs = 500;
