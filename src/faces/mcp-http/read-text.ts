import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HubError } from '../../base/index.ts';

/** The body as text. Bytes that are no UTF-8 would be changed by decoding, so they are refused. */
export function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) reject(tooLarge(maxBytes));
      else parts.push(chunk);
    });
    request.on('end', () => {
      const body = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts); // length checked
      if (isUtf8(body)) resolve(body.toString('utf8'));
      else reject(new HubError('PARSE_ERROR', 'The body is not valid UTF-8.'));
    });
    request.on('error', reject);
  });
}

function tooLarge(maxBytes: number): HubError {
  return new HubError('REQUEST_TOO_LARGE', `The body is over ${maxBytes} bytes.`, {
    hint: 'Send less, or raise serve.maxBodyBytes.',
  });
}
