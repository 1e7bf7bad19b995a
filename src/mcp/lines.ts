/** Splits a byte stream into lines; a line is bounded and never copied more than once. */
export interface LineReader {
  /** False once a line is over the bound; the stream is then to be given up. */
  push(chunk: Buffer): boolean;
}

const newline = 10;

export function createLineReader(onLine: (line: Buffer) => void, maxLineBytes: number): LineReader {
  /** Of a line that has not ended. */
  let parts: Buffer[] = [];
  let size = 0;
  let over = false;

  function line(end: Buffer): void {
    if (parts.length === 0) {
      if (end.length > 0) onLine(end);
      return;
    }
    parts.push(end);
    const whole = Buffer.concat(parts, size + end.length);
    parts = [];
    size = 0;
    onLine(whole);
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
        line(chunk.subarray(from, at));
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
