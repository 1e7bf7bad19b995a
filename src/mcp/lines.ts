/** Splits a byte stream into lines; a line is bounded and never copied more than once. */
export interface LineReader {
  /** False once a line is over the bound; the stream is then to be given up. */
  push(chunk: Buffer): boolean;
}

/** A line stands in these bytes from `start` to `end`: a view of its own would cost more than reading it. */
type OnLine = (bytes: Buffer, start: number, end: number) => void;

const newline = 10;

export function createLineReader(onLine: OnLine, maxLineBytes: number): LineReader {
  /** Of a line that has not ended. */
  let parts: Buffer[] = [];
  let size = 0;
  let over = false;

  function line(chunk: Buffer, from: number, to: number): void {
    if (parts.length === 0) {
      if (to > from) onLine(chunk, from, to);
      return;
    }
    parts.push(chunk.subarray(from, to));
    const whole = Buffer.concat(parts, size + to - from);
    parts = [];
    size = 0;
    onLine(whole, 0, whole.length);
  }

  function isOver(length: number): boolean {
    if (size + length <= maxLineBytes) return false;
    over = true;
    parts = [];
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
      parts.push(from === 0 ? chunk : chunk.subarray(from));
      size += chunk.length - from;
      return true;
    },
  };
}
