import type { IncomingMessage } from 'node:http';
import { PassThrough, pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatheredBytes } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';

/** What requests say they can read. */
export const acceptedEncodings = 'gzip, deflate, br';

/** The body, unpacked. A small one may unpack to anything, so bytes are counted as they come out, and it ends there. */
export async function readBody(response: IncomingMessage, url: URL, maxBytes: number): Promise<Buffer> {
  const body = new GatheredBytes();
  // What happens to either of them is thrown where the second one is read.
  const unpacked = pipeline(response, createUnpacker(response, url), () => {});
  // Streams of bytes give nothing but buffers; their types do not know.
  for await (const chunk of unpacked as AsyncIterable<Buffer>) {
    body.add(chunk);
    if (body.size > maxBytes) {
      throw new ToolFault(
        `${url.href} is not fetched: its body is over the ${maxBytes} bytes that --max-bytes allows.`,
      );
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
  // Several, one upon the other, are only ever sent by those who want them to be unpacked.
  throw new ToolFault(`${url.href} cannot be fetched: its content encoding is none of ${acceptedEncodings}.`);
}
