import { isAscii, isUtf8 } from 'node:buffer';
import { GatheredBytes, HubError } from '../../../base/index.ts';
import { uncountedBytes } from '../client-bytes.ts';
import type { BodyReader, PlainRequest } from './plain-request.ts';

/**
 * Reads the body as text for one of two callbacks; neither is called if the client disconnects before the end.
 * Bytes that are not UTF-8 are refused, because decoding would change them.
 */
export function readRequestText(
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
  #counted = 0;

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
    if (this.#size > this.#maxBytes) this.#refuse(tooLarge(this.#maxBytes));
    else if (this.#size > uncountedBytes && !this.#count(bytes.length)) this.#refuse(tooManyBodies());
    else if (this.#first === undefined) this.#first = bytes;
    else this.#gather(this.#first, bytes);
  }

  #gather(first: Buffer, bytes: Buffer): void {
    if (this.#more === undefined) {
      this.#more = new GatheredBytes();
      this.#more.add(first);
    }
    this.#more.add(bytes);
  }

  #refuse(error: HubError): void {
    this.#giveBack();
    this.#request.dropBody();
    this.#onRefused(error);
  }

  /** Counts a piece of a large body against the budget of its agent; false if it does not fit. */
  #count(bytes: number): boolean {
    const budget = this.#request.bytes?.bodies;
    if (budget === undefined) return true;
    if (!budget.fits(bytes, this.#counted)) return false;
    if (this.#counted === 0) this.#request.once('close', () => this.#giveBack());
    this.#counted += bytes;
    budget.add(bytes);
    return true;
  }

  #giveBack(): void {
    if (this.#counted === 0) return;
    this.#request.bytes?.bodies.release(this.#counted);
    this.#counted = 0;
  }

  end(): void {
    this.#giveBack();
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

function tooManyBodies(): HubError {
  return new HubError('OVERLOADED', 'Too many large request bodies of this agent are arriving at once.', {
    hint: 'Send fewer large requests at once.',
  });
}
