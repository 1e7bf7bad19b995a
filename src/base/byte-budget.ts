/**
 * A limit on the bytes that the hub holds at once, for one agent, as a part of a budget for all of them. A stream that
 * can be paused checks `isFull` and waits for room. Bytes already received are counted even beyond the limit, so that
 * the count stays true.
 *
 * A part may hold no more than what the whole has left. As others fill the whole, the limit of each part shrinks, so a
 * few of them never take the last room from those that come later. However little is left, a part has its minimum.
 */
export class ByteBudget {
  readonly limit: number;
  /** The budget for all, which counts the same bytes. */
  readonly #whole: ByteBudget | undefined;
  readonly #minimum: number;
  /** Of the budget for all: whoever waits for room in it or in one of its parts. */
  readonly #waiting = new Set<() => void>();
  #used = 0;

  constructor(limit: number, whole?: ByteBudget, minimum = 0) {
    this.limit = limit;
    this.#whole = whole;
    this.#minimum = minimum;
  }

  get used(): number {
    return this.#used;
  }

  get isFull(): boolean {
    if (this.#used >= this.limit) return true;
    if (this.#whole === undefined || this.#used < this.#minimum) return false;
    return this.#used >= this.#whole.#free || this.#whole.isFull;
  }

  /** Whether this many more bytes stay within the limit. */
  hasRoomFor(bytes: number): boolean {
    return this.#used + bytes <= this.limit && this.leavesRoom(bytes);
  }

  /** Whether the whole would have as much left as this part would hold, or this part has not more than its minimum. */
  leavesRoom(bytes: number): boolean {
    const after = this.#used + bytes;
    return this.#whole === undefined || after <= this.#minimum || after <= this.#whole.#free - bytes;
  }

  add(bytes: number): void {
    this.#used += bytes;
    this.#whole?.add(bytes);
  }

  /** Subtracts bytes that were added and notifies those that wait. */
  release(bytes: number): void {
    this.#used -= bytes;
    if (this.#whole === undefined) for (const listener of [...this.#waiting]) listener();
    else this.#whole.release(bytes);
  }

  /** Calls back whenever bytes of the whole were released, until the returned function is called. */
  onRelease(listener: () => void): () => void {
    const waiting = this.#root.#waiting;
    waiting.add(listener);
    return () => void waiting.delete(listener);
  }

  get #root(): ByteBudget {
    return this.#whole === undefined ? this : this.#whole.#root;
  }

  get #free(): number {
    return this.limit - this.#used;
  }
}
