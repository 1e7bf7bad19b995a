/**
 * Concatenates texts as UTF-8 in reused memory: measuring a text and allocating a buffer of its size costs more than
 * writing it to a file.
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
    // UTF-8 needs at most three bytes per UTF-16 code unit.
    const needed = this.#size + text.length * 3;
    if (needed > this.#bytes.length) this.#grow(needed);
    this.#size += this.#bytes.write(text, this.#size);
  }

  /** The first `size` bytes are the added text. They stay valid until the next `add`, even after `clear`. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  clear(): void {
    this.#size = 0;
    if (this.#bytes.length > mostKeptBytes) this.#bytes = Buffer.allocUnsafeSlow(this.#usualBytes);
  }

  /** Returns the added bytes and clears the buffer. They are valid until the next `add`. */
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
