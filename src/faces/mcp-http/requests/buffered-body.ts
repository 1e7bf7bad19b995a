import type { BodyReader } from './plain-request.ts';

/** As much as a few reads of a socket can bring. */
const maxBufferedBytes = 256 * 1024;

/** Notified when more arrives for a request that waits for its turn. */
export interface BufferListener {
  /** More arrived: the connection should be paused. */
  came(): void;
  /** More arrived than can be buffered. */
  overflowed(): void;
}

/** The body of a request that waits for its turn. Its connection is paused, so little of it arrives. */
export class BufferedBody implements BodyReader {
  readonly pieces: Buffer[] = [];
  ended = false;
  readonly #listener: BufferListener;
  #size = 0;

  constructor(listener: BufferListener) {
    this.#listener = listener;
  }

  piece(bytes: Buffer): void {
    this.pieces.push(bytes);
    this.#size += bytes.length;
    if (this.#size > maxBufferedBytes) this.#listener.overflowed();
    else this.#listener.came();
  }

  end(): void {
    this.ended = true;
  }
}
