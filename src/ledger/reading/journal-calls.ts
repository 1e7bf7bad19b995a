import type { JournalName } from '../journal/journal-name.ts';
import { type EndedRecord, endedCall } from '../journal/journal-reader.ts';
import { journalSegments, openSegment, segmentLines } from '../journal/segments.ts';
import { recordHead } from '../records/record-head.ts';

/** A segment, and a time after which no call in it began. */
interface DatedSegment {
  readonly name: JournalName;
  readonly changedAt: number;
}

/** An ended call by its records, which are parsed when the call is wanted. */
export interface EndedPair {
  /** When the call began, ISO 8601. */
  readonly ts: string;
  readonly id: string;
  parse(): EndedRecord | undefined;
}

export interface JournalRange {
  /** Only calls that began at this time or later. Segments that changed last before it are not read. */
  readonly since?: number;
}

/**
 * Yields the ended calls of the journal, segment by segment, newest first. `until` is a time after which none of the calls
 * of later steps began, so a reader that wants the newest calls can stop.
 */
export async function* scanJournal(
  folder: string,
  { since = -Infinity }: JournalRange = {},
): AsyncGenerator<{ readonly pairs: readonly EndedPair[]; readonly until: number }> {
  const segments = (await datedSegments(folder)).filter(({ changedAt }) => changedAt >= since);
  /** Ends whose beginning is in an older segment, by life. */
  const ends = new Map<string, Map<string, string>>();
  for (const [index, { name }] of segments.entries()) {
    const wanted = ends.get(name.boot) ?? new Map<string, string>();
    ends.set(name.boot, wanted);
    const pairs = await pairSegment(folder, name, wanted);
    if (segments.slice(index + 1).every((other) => other.name.boot !== name.boot)) ends.delete(name.boot);
    yield { pairs, until: segments[index + 1]?.changedAt ?? -Infinity };
  }
}

/** Newest first. Within a life the order of its files counts, whatever happened to their times. */
export async function datedSegments(folder: string): Promise<DatedSegment[]> {
  const dated: DatedSegment[] = [];
  for (const life of await journalSegments(folder)) {
    let latest = -Infinity;
    for (const name of life) {
      const handle = await openSegment(folder, name);
      if (handle === undefined) continue;
      try {
        latest = Math.max(latest, (await handle.stat()).mtimeMs);
      } finally {
        await handle.close();
      }
      dated.push({ name, changedAt: latest });
    }
  }
  const byNumber = (a: DatedSegment, b: DatedSegment): number =>
    a.name.boot === b.name.boot ? b.name.number - a.name.number : 0;
  return dated.sort((a, b) => b.changedAt - a.changedAt || byNumber(a, b));
}

async function pairSegment(folder: string, name: JournalName, ends: Map<string, string>): Promise<EndedPair[]> {
  const starts = new Map<string, { readonly ts: string; readonly line: string }>();
  const pairs: EndedPair[] = [];
  const pair = (id: string, ts: string, [start, end]: readonly [string, string]): void => {
    pairs.push({ id, ts, parse: () => endedCall(start, end) });
  };
  for await (const { lines } of segmentLines(folder, name)) {
    for (const line of lines) {
      const head = recordHead(line);
      if (head === undefined) continue;
      const { kind, id, ts } = head;
      if (kind === 'sent' || kind === 'held') starts.set(id, { ts, line });
      else if (kind === 'refused' || kind === 'cached') {
        starts.delete(id);
        pair(id, ts, [line, line]);
      } else if (kind === 'done') {
        const start = starts.get(id);
        if (start === undefined) ends.set(id, line);
        else pair(id, start.ts, [start.line, line]);
        starts.delete(id);
      }
    }
  }
  for (const [id, { ts, line }] of starts) {
    const end = ends.get(id);
    if (end === undefined) continue;
    ends.delete(id);
    pair(id, ts, [line, end]);
  }
  return pairs;
}

/** Whether the journal has any call. */
export async function hasRecordedCalls(folder: string): Promise<boolean> {
  for (const life of await journalSegments(folder)) {
    for (const name of life) {
      for await (const { lines } of segmentLines(folder, name)) {
        if (lines.some((line) => recordHead(line) !== undefined)) return true;
      }
    }
  }
  return false;
}
