import { isAscii } from 'node:buffer';

/** Below this, deciding how to decode costs more than decoding. */
const largeBytes = 64 * 1024;

/**
 * The text of a whole message. Large ASCII is decoded as Latin-1, which says the same: Node keeps such a text outside of
 * the heap, and most large messages are ASCII.
 */
export function decodeMessage(bytes: Buffer, start = 0, end: number = bytes.length): string {
  const isPlain = end - start >= largeBytes && isAscii(bytes.subarray(start, end));
  return bytes.toString(isPlain ? 'latin1' : 'utf8', start, end);
}
