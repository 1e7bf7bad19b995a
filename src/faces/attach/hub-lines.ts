import { GatheredBytes } from '../../base/index.ts';
import { drainingLines } from './attach-protocol.ts';

/** What the beginning of a line of the hub tells. */
export interface LineHead {
  readonly idText: string;
  /** `method` for a request of the hub, `replaced` or `ended` for `drainingLines`, otherwise `result` or `error`. */
  readonly next: string;
  /** The line is a batch of answers, and this is the first. */
  readonly batch: boolean;
}

export interface HubLineHandlers {
  /** Whether the line goes to the client. */
  onLine(head: LineHead | undefined): boolean;
  forward(bytes: Buffer): void;
}

const newline = 10;
/** A longer line is passed on in pieces; a shorter one as a whole, so that a lost hub leaves no half line behind. */
const maxHeldBytes = 1024 * 1024;

/** The lines that a hub sends, without reading more of them than their beginning. */
export class HubLines {
  readonly #handlers: HubLineHandlers;
  readonly #rest = new GatheredBytes();
  #passing: 'held' | 'forwarded' | 'dropped' = 'held';

  constructor(handlers: HubLineHandlers) {
    this.#handlers = handlers;
  }

  /** A part of a line has reached the client. */
  get isWithin(): boolean {
    return this.#passing === 'forwarded';
  }

  take(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      const at = chunk.indexOf(newline, from);
      const end = at < 0 ? chunk.length : at + 1;
      this.#piece(chunk.subarray(from, end), at >= 0);
      from = end;
    }
  }

  #piece(piece: Buffer, isEnd: boolean): void {
    if (this.#passing !== 'held') {
      if (this.#passing === 'forwarded') this.#handlers.forward(piece);
      if (isEnd) this.#passing = 'held';
      return;
    }
    if (isEnd && this.#rest.size === 0) {
      this.#begin(piece);
      return;
    }
    this.#rest.add(piece);
    if (!isEnd && this.#rest.size <= maxHeldBytes) return;
    const forwarded = this.#begin(this.#rest.take());
    if (!isEnd) this.#passing = forwarded ? 'forwarded' : 'dropped';
  }

  #begin(bytes: Buffer): boolean {
    const forwarded = this.#handlers.onLine(readHead(bytes));
    if (forwarded) this.#handlers.forward(bytes);
    return forwarded;
  }
}

/** Long enough for the ids of all usual clients. */
const usualHeadBytes = 256;
export const maxIdBytes = 16 * 1024;

/** The hub begins each answer and each request of its own with version and id. Undefined for other messages. */
export function readHead(line: Buffer): LineHead | undefined {
  if (line.length < usualHeadBytes) {
    const [next] = draining.find(([, text]) => line.subarray(0, text.length).equals(text)) ?? [];
    if (next !== undefined) return { idText: '', next, batch: false };
  }
  const batch = line[0] === bracket;
  const start = batch ? 1 : 0;
  if (line.toString('latin1', start, start + opening.length) !== opening) return undefined;
  return headIn(line, start, usualHeadBytes, batch) ?? headIn(line, start, maxIdBytes + usualHeadBytes, batch);
}

const draining = Object.entries(drainingLines).map(([next, text]) => [next, Buffer.from(text)] as const);
const opening = '{"jsonrpc":"2.0","id":';
const bracket = '['.charCodeAt(0);
const headPattern = /^\{"jsonrpc":"2\.0","id":(-?[\d.eE+-]+|"(?:[^"\\]|\\.)*"),"(\w{1,10})":/;

function headIn(line: Buffer, start: number, bytes: number, batch: boolean): LineHead | undefined {
  const [, idText, next] = headPattern.exec(line.toString('utf8', start, start + bytes)) ?? [];
  return idText === undefined || next === undefined ? undefined : { idText, next, batch };
}
