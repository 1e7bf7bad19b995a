import type { IncomingMessage } from 'node:http';
import { PassThrough, pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatheredBytes } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';

/** The encodings that requests accept. */
export const acceptedEncodings = 'gzip, deflate, br';

/**
 * Reads and decompresses the body. A small body may expand to any size, so the limit applies to the decompressed bytes.
 */
export async function readResponseBody(response: IncomingMessage, url: URL, maxBytes: number): Promise<Buffer> {
  const body = new GatheredBytes();
  // An error of either stream is thrown where the second one is read.
  const unpacked = pipeline(response, createUnpacker(response, url), () => {});
  // Byte streams only yield buffers, which their types do not express.
  for await (const chunk of unpacked as AsyncIterable<Buffer>) {
    body.add(chunk);
    if (body.size > maxBytes) {
      throw new ToolFault(`${url.href} is not fetched: its body is larger than ${maxBytes} bytes (--max-bytes).`);
    }
  }
  return body.take();
}

function createUnpacker(response: IncomingMessage, url: URL): Transform {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return new PassThrough();
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'deflate') return createInflate();
  if (encoding === 'br') return createBrotliDecompress();
  // Only a decompression bomb has several encodings in sequence.
  throw new ToolFault(`${url.href} cannot be fetched: its content encoding is not one of ${acceptedEncodings}.`);
}
