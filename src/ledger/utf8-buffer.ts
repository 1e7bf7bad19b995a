/**
 * Texts as UTF-8, one behind the other, in memory that is used again: measuring a text and making a buffer of its size
 * costs more than writing it to a file.
 */
export class Utf8Buffer {
  readonly #usualBytes: number;
  #bytes: Buffer;
  #size = 0;

  constructor(usualBytes: number) {
    this.#usualBytes = usualBytes;
    this.#bytes = Buffer.allocUnsafeSlow(usualBytes);
  }

  get size(): number {
    return this.#size;
  }

  add(text: string): void {
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    const needed = this.#size + text.length * 3;
    if (needed > this.#bytes.length) this.#grow(needed);
    this.#size += this.#bytes.write(text, this.#size);
  }

  /** What was added is its first `size` bytes, and stays there until the next `add`, even when it is cleared. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  clear(): void {
    this.#size = 0;
    if (this.#bytes.length > mostKeptBytes) this.#bytes = Buffer.allocUnsafeSlow(this.#usualBytes);
  }

  /** What was added, and begins anew. Good until the next `add`. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#size);
    this.clear();
    return bytes;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#size);
    this.#bytes = larger;
  }
}

const mostKeptBytes = 1024 * 1024;
