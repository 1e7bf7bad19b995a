import { createLineReader } from './line-reader.ts';

const newline = 10;

/** Lines of a pipe, one call each; a line over the bound is dropped whole, and reading goes on after it. */
export function createBoundedLines(
  handlers: { onLine(line: Buffer): void; onTooLong(): void },
  maxLineBytes: number,
): (chunk: Buffer) => void {
  const createReader = () =>
    createLineReader((bytes, start, end) => handlers.onLine(bytes.subarray(start, end)), maxLineBytes);
  let reader = createReader();
  let skipping = false;

  return function take(chunk) {
    for (let from = 0; from < chunk.length; ) {
      const at = chunk.indexOf(newline, from);
      const end = at < 0 ? chunk.length : at + 1;
      if (!skipping && !reader.push(chunk.subarray(from, end))) {
        reader = createReader();
        skipping = true;
        handlers.onTooLong();
      }
      if (at >= 0) skipping = false;
      from = end;
    }
  };
}
