import type { Clock } from '../../base/index.ts';
import type { ChainHead } from '../journal/chain.ts';
import { scanSegment } from '../journal/scan-segment.ts';
import { journalSegments, openSegment, readSegmentEnds } from '../journal/segments.ts';
import { journalFolder, type LedgerPlaces } from '../places.ts';

export interface LedgerHead extends ChainHead {
  /** When it was read, ISO 8601. */
  readonly time: string;
}

/** The head of the chain now: the newest write. Undefined if nothing was ever recorded. */
export async function readLedgerHead(
  { clock }: { readonly clock: Clock },
  places: LedgerPlaces,
): Promise<LedgerHead | undefined> {
  const folder = journalFolder(places);
  let newest: ChainHead | undefined;
  for (const life of await journalSegments(folder)) {
    const name = life.at(-1);
    if (name === undefined) continue;
    // A hub may be in the middle of a write.
    const last = (await readSegmentEnds(folder, name))?.last ?? (await lastWrite(folder, name));
    if (last !== undefined && last.seq >= (newest?.seq ?? 0)) newest = last;
  }
  if (newest === undefined) return undefined;
  return { seq: newest.seq, hash: newest.hash, time: new Date(clock.now()).toISOString() };
}

async function lastWrite(folder: string, name: Parameters<typeof openSegment>[1]): Promise<ChainHead | undefined> {
  const handle = await openSegment(folder, name);
  if (handle === undefined) return undefined;
  try {
    const readAt = async (buffer: Buffer, position: number): Promise<number> =>
      (await handle.read(buffer, 0, buffer.length, position)).bytesRead;
    return (await scanSegment(readAt, () => {})).last;
  } finally {
    await handle.close();
  }
}
