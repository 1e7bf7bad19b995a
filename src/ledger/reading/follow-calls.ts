import { type Clock, createSystemClock, sleep } from '../../base/index.ts';
import type { JournalName } from '../journal/journal-name.ts';
import { endedCall } from '../journal/journal-reader.ts';
import { linesOf } from '../journal/line-chunks.ts';
import { journalSegments, openSegment } from '../journal/segments.ts';
import { journalFolder, type LedgerPlaces } from '../places.ts';
import type { CallLine } from '../records/call-line.ts';
import { recordHead } from '../records/record-head.ts';
import { checkRunId, recordedCall } from './read-calls.ts';

export interface FollowCallsOptions {
  readonly run?: string;
  /** Start with this many of the last calls. Default: 0. */
  readonly last?: number;
  readonly clock?: Clock;
}

/** `text` is the line as it was written. */
export type OnCall = (call: CallLine, text: string) => void;

/** Reports every call that ends from now on, also of hubs that start later. Returns when the signal aborts. */
export async function followCalls(
  places: LedgerPlaces,
  options: FollowCallsOptions,
  onCall: OnCall,
  signal: AbortSignal,
): Promise<void> {
  const { run, last = 0, clock = createSystemClock() } = options;
  checkRunId(run);
  const tell: OnCall = (call, text) => {
    if (run === undefined || call.run_id === run) onCall(call, text);
  };
  const reader = new SegmentReader(journalFolder(places));
  const recent: Parameters<OnCall>[] = [];
  await reader.readOn((...call) => {
    recent.push(call);
    if (recent.length > last) recent.shift();
  }, true);
  for (const call of recent) tell(...call);
  while (!signal.aborted) {
    const began = clock.monotonic();
    await reader.readOn(tell, false);
    // With thousands of segments one look takes long, so sleep in proportion to it.
    await sleep(clock, Math.max(pollMs, pollShare * (clock.monotonic() - began)), signal);
  }
}

const pollMs = 250;
const pollShare = 10;

/** Reads on in all segments of the journal, in the order in which they were written. */
class SegmentReader {
  readonly #folder: string;
  /** The bytes read of each segment, by its name without suffix. */
  readonly #positions = new Map<string, number>();
  /** The records of calls without an end, by call id. */
  readonly #starts = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** With `isFirst`, passes over lives that are complete. */
  async readOn(onCall: OnCall, isFirst: boolean): Promise<void> {
    const present = new Set<string>();
    for (const life of await journalSegments(this.#folder)) {
      const isOver = life.every(({ holder }) => holder === 'sealed');
      for (const name of life) {
        present.add(name.original);
        if (isFirst && isOver) this.#positions.set(name.original, Infinity);
        else await this.#readSegment(name, onCall);
      }
    }
    for (const name of this.#positions.keys()) if (!present.has(name)) this.#positions.delete(name);
  }

  async #readSegment(name: JournalName, onCall: OnCall): Promise<void> {
    const from = this.#positions.get(name.original) ?? 0;
    if (from === Infinity) return;
    const handle = await openSegment(this.#folder, name);
    if (handle === undefined) return;
    try {
      let position = from;
      for await (const { lines, end } of linesOf(handle, from)) {
        position = end;
        for (const line of lines) this.#take(line, onCall);
      }
      // Nothing is added to a sealed segment.
      this.#positions.set(name.original, name.holder === 'sealed' ? Infinity : position);
    } finally {
      await handle.close();
    }
  }

  #take(line: string, onCall: OnCall): void {
    const head = recordHead(line);
    if (head === undefined) return;
    const { kind, id } = head;
    if (kind === 'sent' || kind === 'held') {
      this.#starts.set(id, line);
      return;
    }
    const start = kind === 'done' ? this.#starts.get(id) : line;
    this.#starts.delete(id);
    if (start === undefined) return;
    const recorded = recordedCall({ parse: () => endedCall(start, line) });
    if (recorded !== undefined) onCall(recorded.call, recorded.text);
  }
}
