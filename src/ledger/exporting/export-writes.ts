import type { ChainRecord } from '../journal/chain.ts';
import type { JournalName } from '../journal/journal-name.ts';
import { scanSegment } from '../journal/scan-segment.ts';
import { journalSegments, openSegment, readSegmentEnds } from '../journal/segments.ts';
import { journalFolder, type LedgerPlaces } from '../places.ts';

/** The last exported write of each process life: lives that ran at the same time have sequences of their own. */
export type ExportPositions = Map<string, number>;

/** One journal write with its place in the chain. */
export interface ExportedWrite {
  readonly life: string;
  readonly chain: ChainRecord;
  readonly lines: readonly string[];
}

export interface ExportRange {
  readonly positions: ExportPositions;
  /** Only writes with this sequence number or a higher one. */
  readonly from: number;
  /** Gets the writes before them: a call may have begun there. */
  readonly learn?: ((write: ExportedWrite) => void) | undefined;
}

/** Passes on all writes after the positions, in order, each when the one before was taken. */
export async function exportWrites(
  places: LedgerPlaces,
  { positions, from, learn }: ExportRange,
  onWrite: (write: ExportedWrite) => void | Promise<void>,
): Promise<void> {
  const folder = journalFolder(places);
  const lives = await journalSegments(folder);
  forgetLives(positions, lives);
  for (const life of lives) {
    for (const name of life) {
      const isNew = (seq: number): boolean => seq >= from && seq > (positions.get(name.boot) ?? 0);
      if (learn === undefined && !(await hasMore(folder, name, isNew))) continue;
      const handle = await openSegment(folder, name);
      if (handle === undefined) continue;
      try {
        const readAt = async (buffer: Buffer, position: number): Promise<number> =>
          (await handle.read(buffer, 0, buffer.length, position)).bytesRead;
        await scanSegment(readAt, async ({ chain, lines }) => {
          const write = { life: name.boot, chain, lines };
          if (isNew(chain.seq)) await onWrite(write);
          else learn?.(write);
        });
      } finally {
        await handle.close();
      }
    }
  }
}

/**
 * A life without files does not come back, so its position is of no use. With no file at all, the journal may only be
 * unavailable.
 */
function forgetLives(positions: ExportPositions, lives: readonly (readonly JournalName[])[]): void {
  if (lives.length === 0) return;
  const there = new Set(lives.map(([first]) => first?.boot));
  for (const life of positions.keys()) if (!there.has(life)) positions.delete(life);
}

async function hasMore(folder: string, name: JournalName, isNew: (seq: number) => boolean): Promise<boolean> {
  const last = (await readSegmentEnds(folder, name))?.last;
  // A hub may be in the middle of a write.
  return last === undefined || isNew(last.seq);
}
