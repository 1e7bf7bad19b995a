import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HubError } from '../../base/index.ts';

/**
 * The body as text, to one of two callbacks; a client that goes away before the end gets neither.
 * Bytes that are no UTF-8 would be changed by decoding, so they are refused.
 */
export function readText(
  request: IncomingMessage,
  contentLength: string | undefined,
  maxBytes: number,
  onText: (text: string) => void,
  onRefused: (error: HubError) => void,
): void {
  if (Number(contentLength) > maxBytes) {
    onRefused(tooLarge(maxBytes));
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) {
      request.removeAllListeners('data').removeAllListeners('end').resume();
      onRefused(tooLarge(maxBytes));
    } else if (first === undefined) first = chunk;
    else if (more === undefined) more = [first, chunk];
    else more.push(chunk);
  });
  request.on('end', () => {
    const body = more === undefined ? (first ?? nothing) : Buffer.concat(more);
    // Nearly every body is plain ASCII, which needs no decoding.
    if (isAscii(body)) onText(body.toString('latin1'));
    else if (isUtf8(body)) onText(body.toString('utf8'));
    else onRefused(new HubError('PARSE_ERROR', 'The body is not valid UTF-8.'));
  });
}

const nothing = Buffer.alloc(0);

function tooLarge(maxBytes: number): HubError {
  return new HubError('REQUEST_TOO_LARGE', `The body is over ${maxBytes} bytes.`, {
    hint: 'Send less, or raise serve.maxBodyBytes.',
  });
}
