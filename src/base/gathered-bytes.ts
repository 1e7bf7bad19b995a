/** The first pieces are kept as they are, whatever their size. Nearly all messages have no more than this. */
const fewPieces = 4;
/** Pieces of at least this size are kept as they are. Smaller ones are copied together. */
const largePiece = 4 * 1024;
const minBlock = 4 * 1024;
const maxBlock = 64 * 1024;

/**
 * The bytes of one message that arrives in pieces. A view of a few bytes costs about a hundred of its own and retains
 * the whole buffer it was read into, so a sender of tiny pieces could exhaust memory far below the byte limit. Here
 * memory stays within about twice the bytes, and each byte is copied at most twice. Do not change a piece after adding
 * it.
 */
export class GatheredBytes {
  #pieces: Buffer[] = [];
  #size = 0;
  /** Small pieces are copied here one after another. The bytes from `#start` to `#end` are not in `#pieces` yet. */
  #block: Buffer | undefined;
  #start = 0;
  #end = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of buffers. */
  get bufferCount(): number {
    return this.#pieces.length + (this.#end > this.#start ? 1 : 0);
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    if (this.#pieces.length < fewPieces || isWorthKeeping(piece)) {
      this.#closeRun();
      this.#pieces.push(piece);
    } else this.#copy(piece);
    this.#size += piece.length;
  }

  /** Returns all bytes, followed by `last`, and empties the list. A single piece is returned without a copy. */
  take(last?: Buffer): Buffer {
    this.#closeRun();
    const pieces = this.#pieces;
    if (last !== undefined && last.length > 0) {
      pieces.push(last);
      this.#size += last.length;
    }
    const only = pieces.length === 1 ? pieces[0] : undefined;
    const whole = only ?? Buffer.concat(pieces, this.#size);
    this.clear();
    return whole;
  }

  clear(): void {
    if (this.#size === 0) return;
    this.#pieces = [];
    this.#size = 0;
    this.#block = undefined;
    this.#start = 0;
    this.#end = 0;
  }

  #copy(piece: Buffer): void {
    for (let from = 0; from < piece.length; ) {
      if (this.#block === undefined || this.#end === this.#block.length) {
        this.#closeRun();
        // Not from Node's pool: a view would retain the whole pool.
        this.#block = Buffer.allocUnsafeSlow(Math.min(Math.max(this.#size, minBlock), maxBlock));
        this.#start = 0;
        this.#end = 0;
      }
      const copied = piece.copy(this.#block, this.#end, from);
      this.#end += copied;
      from += copied;
    }
  }

  /** Moves the bytes in the block to their place among the pieces. The rest of the block stays available. */
  #closeRun(): void {
    if (this.#block === undefined || this.#end === this.#start) return;
    this.#pieces.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

/** False for a small part of a large buffer, which would be retained as a whole. */
function isWorthKeeping(piece: Buffer): boolean {
  return piece.length >= largePiece && piece.length * 2 >= piece.buffer.byteLength;
}
