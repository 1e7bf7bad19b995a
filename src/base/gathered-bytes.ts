/** Pieces kept as they came, whatever their size: nearly all messages have no more. */
const fewPieces = 4;
/** From this size on a piece is kept as it came; smaller ones are copied together. */
const largePiece = 4 * 1024;
const minBlock = 4 * 1024;
const maxBlock = 64 * 1024;

/**
 * Bytes of one message that come in pieces. A view of a few bytes costs a hundred of its own and holds the whole buffer
 * it was read into, so a sender of tiny pieces could fill the memory far below the bound on bytes. Here memory stays
 * within about twice the bytes, and each byte is copied at most twice. Pieces must not change afterwards.
 */
export class GatheredBytes {
  #pieces: Buffer[] = [];
  #size = 0;
  /** Small pieces go here one after the other; those from `#start` to `#end` are not in `#pieces` yet. */
  #block: Buffer | undefined;
  #start = 0;
  #end = 0;

  get size(): number {
    return this.#size;
  }

  /** How many buffers are held. */
  get held(): number {
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

  /** All bytes, with these behind them; then it is empty. A single piece is given as it came. */
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
        // Not of Node's pool, which would be held as a whole.
        this.#block = Buffer.allocUnsafeSlow(Math.min(Math.max(this.#size, minBlock), maxBlock));
        this.#start = 0;
        this.#end = 0;
      }
      const copied = piece.copy(this.#block, this.#end, from);
      this.#end += copied;
      from += copied;
    }
  }

  /** What stands in the block keeps its place among the pieces; the rest of the block is for later ones. */
  #closeRun(): void {
    if (this.#block === undefined || this.#end === this.#start) return;
    this.#pieces.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

/** Not a small part of a large buffer, which it would hold as a whole. */
function isWorthKeeping(piece: Buffer): boolean {
  return piece.length >= largePiece && piece.length * 2 >= piece.buffer.byteLength;
}
