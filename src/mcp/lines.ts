/** Splits a byte stream into lines; a line is bounded and never copied more than once. */
export interface LineReader {
  /** False once a line is over the bound. */
  push(chunk: Buffer): boolean;
}

const newline = 10;

export function createLineReader(onLine: (line: Buffer) => void, maxLineBytes: number): LineReader {
  let parts: Buffer[] = [];
  let size = 0;

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        if (parts.length === 0) {
          if (at > from) onLine(chunk.subarray(from, at));
        } else {
          parts.push(chunk.subarray(from, at));
          onLine(Buffer.concat(parts));
          parts = [];
          size = 0;
        }
        from = at + 1;
      }
      if (from < chunk.length) {
        parts.push(from === 0 ? chunk : chunk.subarray(from));
        size += chunk.length - from;
      }
      return size <= maxLineBytes;
    },
  };
}
