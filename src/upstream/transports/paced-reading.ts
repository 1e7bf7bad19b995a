import { createSseReader, type SseEvent, type SseReader } from '../../mcp/index.ts';

/** A stream that can be stopped for a while. */
export interface PausableStream {
  pause(): void;
  /** Also called if it does not pause. */
  resume(): void;
}

/** What one stream may cost in one turn of the loop, in lines. About a millisecond. */
const workPerTurn = 4096;
const workPerMessage = 16;

/** A message costs as much as the lines of its length. */
export function workOf({ length }: string): number {
  return workPerMessage + (length >> 8);
}

/**
 * Handles what arrives on a stream in its order. After as much work as fits into a turn, the stream pauses, and the rest
 * waits for the next turn: a server that sends without end takes turns with the others. `handle` must not throw.
 */
export class PacedReading<T> {
  readonly #stream: PausableStream;
  readonly #handle: (item: T) => void;
  readonly #workOf: (item: T) => number;
  #workLeft = workPerTurn;
  /** Items for the next turns, if the stream pauses. At most those of one chunk. */
  #waiting: T[] | undefined;
  #next = 0;
  #closed = false;

  constructor(stream: PausableStream, handle: (item: T) => void, workOfItem: (item: T) => number) {
    this.#stream = stream;
    this.#handle = handle;
    this.#workOf = workOfItem;
  }

  receive(item: T): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(item);
      return;
    }
    this.#take(item);
    if (this.#workLeft <= 0) this.#pause();
  }

  /** Work that no item shows, such as empty lines. */
  spend(work: number): void {
    this.#workLeft -= work;
    if (this.#workLeft <= 0 && this.#waiting === undefined) this.#pause();
    // Others may have resumed it.
    else if (this.#waiting !== undefined) this.#stream.pause();
  }

  /** The stream has ended: no more than the rest of a chunk can wait. */
  finish(): void {
    const waiting = this.#waiting?.slice(this.#next) ?? [];
    this.#waiting = undefined;
    for (const item of waiting) this.#take(item);
    this.close();
  }

  /** Drops what waits. */
  close(): void {
    this.#closed = true;
    this.#waiting = undefined;
  }

  #take(item: T): void {
    if (this.#closed) return;
    this.#workLeft -= this.#workOf(item);
    this.#handle(item);
  }

  #pause(): void {
    if (this.#closed) return;
    this.#waiting = [];
    this.#next = 0;
    this.#stream.pause();
    setImmediate(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    this.#workLeft = workPerTurn;
    // Handling an item may close or finish the reading.
    for (let waiting = this.#waiting; waiting !== undefined; waiting = this.#waiting) {
      if (this.#next === waiting.length) {
        this.#waiting = undefined;
        this.#stream.resume();
      } else if (this.#workLeft > 0)
        this.#take(waiting[this.#next++] as T); // within the array
      else {
        setImmediate(this.#nextTurn);
        return;
      }
    }
  };
}

export interface PacedSseReader extends SseReader {
  /** Handles the rest of what was read. */
  finish(): void;
}

/** Reads a server-sent event stream in turns. */
export function createPacedSseReader(
  stream: PausableStream,
  onEvent: (event: SseEvent) => void,
  maxEventBytes: number,
): PacedSseReader {
  const paced = new PacedReading(stream, onEvent, ({ data }) => workOf(data));
  const reader = createSseReader((event) => paced.receive(event), maxEventBytes);
  let lines = 0;
  return {
    get lastId() {
      return reader.lastId;
    },
    get retryMs() {
      return reader.retryMs;
    },
    get bufferedBytes() {
      return reader.bufferedBytes;
    },
    get lines() {
      return reader.lines;
    },
    push(chunk) {
      const isRead = reader.push(chunk);
      paced.spend(reader.lines - lines);
      lines = reader.lines;
      return isRead;
    },
    finish: () => paced.finish(),
  };
}

/** The response that a controller of undici controls. */
export function pausableResponse(controller: PausableController): PausableStream {
  return {
    pause: () => controller.pause(),
    resume: () => {
      if (controller.paused && !controller.aborted) controller.resume();
    },
  };
}

interface PausableController {
  readonly paused: boolean;
  readonly aborted: boolean;
  pause(): void;
  resume(): void;
}
