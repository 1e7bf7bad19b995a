import { type ByteBudget, countedBytes, GatheredBytes } from '../base/index.ts';
import { SkippedLine } from './skipped-line.ts';

/** Splits a byte stream into lines of bounded length. A line in few or large pieces is copied at most once. */
export interface LineReader {
  /** False once a line exceeds the limit. The caller must then abandon the stream. */
  push(chunk: Buffer): boolean;
  /** Drops an unfinished line. The stream is gone. */
  close(): void;
}

/** Receives a line as a range of `bytes`, because creating a view would cost more than reading the line. */
type OnLine = (bytes: Buffer, start: number, end: number) => void;

const newline = 10;

export interface SkippingOptions {
  /** A line over the bound is skipped and reported when it ends. */
  onSkipped(line: SkippedLine): void;
  /** Even a skipped line may not be longer than this. */
  readonly maxSkippedBytes: number;
  /** Where the bytes of a long unfinished line count. A line for which there is no room is skipped. */
  readonly budget?: ByteBudget | undefined;
}

/** With `skipping`, a long line costs only itself; without it, the stream is given up. */
export function createLineReader(onLine: OnLine, maxLineBytes: number, skipping?: SkippingOptions): LineReader {
  return new BoundedLineReader(onLine, maxLineBytes, skipping);
}

class BoundedLineReader implements LineReader {
  readonly #onLine: OnLine;
  readonly #maxLineBytes: number;
  readonly #skipping: SkippingOptions | undefined;
  /** Bytes of a line that is not complete yet. */
  readonly #rest = new GatheredBytes();
  #skipped: SkippedLine | undefined;
  #over = false;
  /** What the budget counts of the unfinished line. */
  #counted = 0;

  constructor(onLine: OnLine, maxLineBytes: number, skipping: SkippingOptions | undefined) {
    this.#onLine = onLine;
    this.#maxLineBytes = maxLineBytes;
    this.#skipping = skipping;
  }

  push(chunk: Buffer): boolean {
    if (this.#over) return false;
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      this.#endLine(chunk, from, at);
      if (this.#over) return false;
      from = at + 1;
      // Searching for the end of each empty line would cost far more.
      while (chunk[from] === newline) from++;
    }
    if (from === chunk.length) return true;
    const piece = from === 0 ? chunk : chunk.subarray(from);
    if (!this.#skips(piece)) this.#keep(piece);
    return !this.#over;
  }

  close(): void {
    this.#rest.clear();
    this.#skipped = undefined;
    this.#over = true;
    this.#count();
  }

  #endLine(chunk: Buffer, from: number, to: number): void {
    if (this.#skipped === undefined && this.#rest.size + to - from <= this.#maxLineBytes) {
      this.#line(chunk, from, to);
      return;
    }
    if (!this.#skips(chunk.subarray(from, to)) || this.#over || this.#skipped === undefined) return;
    const whole = this.#skipped;
    this.#skipped = undefined;
    this.#skipping?.onSkipped(whole);
  }

  #line(chunk: Buffer, from: number, to: number): void {
    if (this.#rest.size === 0) {
      if (to > from) this.#onLine(chunk, from, to);
      return;
    }
    const whole = this.#rest.take(chunk.subarray(from, to));
    if (this.#counted > 0) this.#count();
    this.#onLine(whole, 0, whole.length);
  }

  /** Whether the line is over the bound with this piece, which is then taken. */
  #skips(piece: Buffer): boolean {
    if (this.#skipped !== undefined) this.#skipped.add(piece);
    else if (this.#rest.size + piece.length <= this.#maxLineBytes) return false;
    else this.#skipped = this.#skip(piece);
    this.#over = this.#skipping === undefined || this.#skipped.size > this.#skipping.maxSkippedBytes;
    return true;
  }

  #skip(piece: Buffer): SkippedLine {
    const line = new SkippedLine(this.#rest.take(piece));
    this.#count();
    return line;
  }

  /** Keeps the start of a line, unless it is long and there is no room. */
  #keep(piece: Buffer): void {
    const size = this.#rest.size + piece.length;
    if (size >= countedBytes && this.#skipping?.budget?.hasRoomFor(size - this.#counted) === false) {
      this.#skipped = this.#skip(piece);
      return;
    }
    this.#rest.add(piece);
    if (size >= countedBytes) this.#count();
  }

  #count(): void {
    const before = this.#counted;
    this.#counted = this.#rest.size >= countedBytes ? this.#rest.size : 0;
    if (this.#counted > before) this.#skipping?.budget?.add(this.#counted - before);
    else if (this.#counted < before) this.#skipping?.budget?.release(before - this.#counted);
  }
}
