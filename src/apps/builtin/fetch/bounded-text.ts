/** A text that grows piece by piece, up to a bound. */
export interface BoundedText {
  add(piece: string): void;
  readonly length: number;
  /** Something did not fit. */
  readonly isFull: boolean;
  /** Makes one piece of many small ones; to be called now and then. */
  settle(): void;
  all(): string;
}

export function createBoundedText(limit: number): BoundedText {
  const settled: string[] = [];
  let pieces: string[] = [];
  let length = 0;
  let isFull = false;
  return {
    add(piece) {
      if (isFull) return;
      isFull = length + piece.length > limit;
      const fitting = isFull ? piece.slice(0, limit - length) : piece;
      pieces.push(fitting);
      length += fitting.length;
    },
    get length() {
      return length;
    },
    get isFull() {
      return isFull;
    },
    settle() {
      settled.push(pieces.join(''));
      pieces = [];
    },
    all: () => settled.join('') + pieces.join(''),
  };
}
