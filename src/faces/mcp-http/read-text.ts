import { isAscii, isUtf8 } from 'node:buffer';
import { GatheredBytes, HubError } from '../../base/index.ts';
import type { BodyReader, PlainRequest } from './plain-request.ts';

/**
 * The body as text, to one of two callbacks; a client that goes away before the end gets neither.
 * Bytes that are no UTF-8 would be changed by decoding, so they are refused.
 */
export function readText(
  request: PlainRequest,
  contentLength: string | undefined,
  maxBytes: number,
  onText: (text: string) => void,
  onRefused: (error: HubError) => void,
): void {
  if (Number(contentLength) > maxBytes) onRefused(tooLarge(maxBytes));
  else request.readBody(new TextReader(request, maxBytes, onText, onRefused));
}

class TextReader implements BodyReader {
  readonly #request: PlainRequest;
  readonly #maxBytes: number;
  readonly #onText: (text: string) => void;
  readonly #onRefused: (error: HubError) => void;
  #first: Buffer | undefined;
  #more: GatheredBytes | undefined;
  #size = 0;

  constructor(
    request: PlainRequest,
    maxBytes: number,
    onText: (text: string) => void,
    onRefused: (error: HubError) => void,
  ) {
    this.#request = request;
    this.#maxBytes = maxBytes;
    this.#onText = onText;
    this.#onRefused = onRefused;
  }

  piece(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > this.#maxBytes) {
      this.#request.dropBody();
      this.#onRefused(tooLarge(this.#maxBytes));
    } else if (this.#first === undefined) this.#first = bytes;
    else this.#gather(this.#first, bytes);
  }

  #gather(first: Buffer, bytes: Buffer): void {
    if (this.#more === undefined) {
      this.#more = new GatheredBytes();
      this.#more.add(first);
    }
    this.#more.add(bytes);
  }

  end(): void {
    const body = this.#more === undefined ? (this.#first ?? nothing) : this.#more.take();
    // Nearly every body is plain ASCII, which needs no decoding.
    if (isAscii(body)) this.#onText(body.toString('latin1'));
    else if (isUtf8(body)) this.#onText(body.toString('utf8'));
    else this.#onRefused(new HubError('PARSE_ERROR', 'The body is not valid UTF-8.'));
  }
}

const nothing = Buffer.alloc(0);

function tooLarge(maxBytes: number): HubError {
  return new HubError('REQUEST_TOO_LARGE', `The body is over ${maxBytes} bytes.`, {
    hint: 'Send less, or raise serve.maxBodyBytes.',
  });
}
