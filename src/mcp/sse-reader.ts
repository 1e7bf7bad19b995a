import { GatheredBytes } from '../base/index.ts';
import { decodeMessage } from './decode-message.ts';

export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

export interface SseReader {
  /** The id from which the stream can be resumed, if the server supports that. */
  readonly lastId: string | undefined;
  /** How long the server asks clients to wait before they reconnect. */
  readonly retryMs: number | undefined;
  /** The size of the unfinished event. */
  readonly bufferedBytes: number;
  /** The lines so far. Empty lines that follow one another count as one. */
  readonly lines: number;
  /** False once an event exceeds the limit. The caller must then abandon the stream. */
  push(chunk: Buffer): boolean;
}

/**
 * Parses a server-sent event stream incrementally, with a size limit per event. Lines end with LF, CR or CRLF. A line
 * that arrives in many pieces is assembled once, when it ends.
 */
export function createSseReader(onEvent: (event: SseEvent) => void, maxEventBytes: number): SseReader {
  return new LineReader(new EventAssembly(onEvent), maxEventBytes);
}

const feedByte = 10;
const returnByte = 13;

/** Splits the bytes into lines. */
class LineReader implements SseReader {
  readonly #assembly: EventAssembly;
  readonly #maxEventBytes: number;
  /** The start of an unfinished line. */
  readonly #rest = new GatheredBytes();
  lines = 0;
  #atStart = true;
  #afterReturn = false;
  #isOver = false;

  constructor(assembly: EventAssembly, maxEventBytes: number) {
    this.#assembly = assembly;
    this.#maxEventBytes = maxEventBytes;
  }

  get lastId(): string | undefined {
    return this.#assembly.lastId;
  }

  get retryMs(): number | undefined {
    return this.#assembly.retryMs;
  }

  get bufferedBytes(): number {
    return this.#assembly.size + this.#rest.size;
  }

  push(chunk: Buffer): boolean {
    if (this.#isOver) return false;
    if (chunk.length === 0) return true;
    let from = this.#afterReturn && chunk[0] === feedByte ? 1 : 0;
    this.#afterReturn = false;
    let feed = chunk.indexOf(feedByte, from);
    let carriage = chunk.indexOf(returnByte, from);
    while (feed >= 0 || carriage >= 0) {
      const at = carriage < 0 || (feed >= 0 && feed < carriage) ? feed : carriage;
      if (this.#exceeds(at - from)) return false;
      this.#endLine(chunk, from, at);
      from = at + 1;
      if (at === carriage) {
        this.#afterReturn = from === chunk.length;
        if (feed === from) from++;
        carriage = chunk.indexOf(returnByte, from);
      } else if (at === feed && chunk[from] === feedByte) {
        // The next line is empty and ends the event. Further ones change nothing.
        while (chunk[from + 1] === feedByte) from++;
      }
      if (feed >= 0 && feed < from) feed = chunk.indexOf(feedByte, from);
    }
    if (from === chunk.length) return true;
    if (this.#exceeds(chunk.length - from)) return false;
    this.#rest.add(from === 0 ? chunk : chunk.subarray(from));
    return true;
  }

  /** Whether this many more bytes of the line would exceed the limit. */
  #exceeds(bytes: number): boolean {
    this.#isOver = this.bufferedBytes + bytes > this.#maxEventBytes;
    if (this.#isOver) {
      this.#rest.clear();
      this.#assembly.drop();
    }
    return this.#isOver;
  }

  /** Reads a finished line. In UTF-8, the bytes of a line break are never part of another character. */
  #endLine(chunk: Buffer, from: number, to: number): void {
    this.lines++;
    const rest = this.#rest;
    const bytes = rest.size + to - from;
    const text =
      rest.size === 0 ? chunk.toString('utf8', from, to) : decodeMessage(rest.take(chunk.subarray(from, to)));
    const hasByteOrderMark = this.#atStart && text.charCodeAt(0) === 0xfeff;
    this.#atStart = false;
    this.#assembly.line(hasByteOrderMark ? text.slice(1) : text, bytes);
  }
}

/** Puts lines together to events. */
class EventAssembly {
  lastId: string | undefined;
  retryMs: number | undefined;
  /** The bytes of the data lines so far. */
  size = 0;
  readonly #onEvent: (event: SseEvent) => void;
  #event = '';
  #data: string[] = [];
  #id: string | undefined;

  constructor(onEvent: (event: SseEvent) => void) {
    this.#onEvent = onEvent;
  }

  line(text: string, bytes: number): void {
    if (text === '') {
      this.#end();
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(text.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === 'data') {
      this.#data.push(value);
      this.size += bytes;
    } else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
  }

  drop(): void {
    this.#data = [];
  }

  #end(): void {
    // Set only here, because an event that was cut off does not count as seen.
    this.lastId = this.#id;
    const data = this.#data;
    const event = this.#event === '' ? 'message' : this.#event;
    if (data.length > 0) this.#onEvent({ event, data: data.join('\n'), id: this.#id });
    this.#event = '';
    this.#data = [];
    this.size = 0;
  }
}
