/** A text built piece by piece, up to a limit. */
export interface BoundedText {
  add(piece: string): void;
  readonly length: number;
  /** Some text did not fit. */
  readonly isFull: boolean;
  /** Joins the small pieces; call it from time to time. */
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
