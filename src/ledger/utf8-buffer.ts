/**
 * Texts as UTF-8, one behind the other, in memory that is used again: measuring a text and making a buffer of its size
 * costs more than writing it to a file.
 */
export class Utf8Buffer {
  #bytes = Buffer.allocUnsafeSlow(usualBytes);
  #size = 0;

  add(text: string): void {
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    const needed = this.#size + text.length * 3;
    if (needed > this.#bytes.length) this.#grow(needed);
    this.#size += this.#bytes.write(text, this.#size);
  }

  /** What was added, and begins anew. Good until the next `add`. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#size);
    this.#size = 0;
    if (this.#bytes.length > mostKeptBytes) this.#bytes = Buffer.allocUnsafeSlow(usualBytes);
    return bytes;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#size);
    this.#bytes = larger;
  }
}

const usualBytes = 256 * 1024;
const mostKeptBytes = 1024 * 1024;
