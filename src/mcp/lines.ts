import { GatheredBytes } from '../base/index.ts';

/** Splits a byte stream into lines; a line is bounded and copied at most once where its pieces are few or large. */
export interface LineReader {
  /** False once a line is over the bound; the stream is then to be given up. */
  push(chunk: Buffer): boolean;
}

/** A line stands in these bytes from `start` to `end`: a view of its own would cost more than reading it. */
type OnLine = (bytes: Buffer, start: number, end: number) => void;

const newline = 10;

export function createLineReader(onLine: OnLine, maxLineBytes: number): LineReader {
  /** Of a line that has not ended. */
  const rest = new GatheredBytes();
  let over = false;

  function line(chunk: Buffer, from: number, to: number): void {
    if (rest.size === 0) {
      if (to > from) onLine(chunk, from, to);
      return;
    }
    const whole = rest.take(chunk.subarray(from, to));
    onLine(whole, 0, whole.length);
  }

  function isOver(length: number): boolean {
    if (rest.size + length <= maxLineBytes) return false;
    over = true;
    rest.clear();
    return true;
  }

  return {
    push(chunk) {
      if (over) return false;
      let from = 0;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        if (isOver(at - from)) return false;
        line(chunk, from, at);
        from = at + 1;
      }
      if (from === chunk.length) return true;
      if (isOver(chunk.length - from)) return false;
      rest.add(from === 0 ? chunk : chunk.subarray(from));
      return true;
    },
  };
}
