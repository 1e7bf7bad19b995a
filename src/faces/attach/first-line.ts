import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/index.ts';

const newline = 10;

/**
 * Reads the first line of a connection and leaves the rest in it, paused. Undefined if it is too long, too late, or if
 * the connection ends before.
 */
export function readFirstLine(
  stream: Duplex,
  clock: Clock,
  limits: { readonly maxBytes: number; readonly timeoutMs: number },
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const timer = clock.setTimer(limits.timeoutMs, () => finish(undefined));
    const end = (): void => finish(undefined);

    function take(chunk: Buffer): void {
      const at = chunk.indexOf(newline);
      const end = at < 0 ? chunk.length : at;
      bytes += end;
      if (bytes <= limits.maxBytes) pieces.push(chunk.subarray(0, end));
      else finish(undefined);
      if (at < 0 || bytes > limits.maxBytes) return;
      finish(Buffer.concat(pieces).toString('utf8'));
      if (at + 1 < chunk.length) stream.unshift(chunk.subarray(at + 1));
    }

    function finish(line: string | undefined): void {
      timer.cancel();
      stream.pause();
      stream.off('data', take).off('end', end).off('close', end).off('error', end);
      resolve(line);
    }

    stream.on('data', take).on('end', end).on('close', end).on('error', end).resume();
  });
}
