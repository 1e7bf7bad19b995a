import { IncomingMessage } from 'node:http';
import { BufferedBody, type BufferListener } from './buffered-body.ts';
import { type KnownHeaders, readHeaders } from './known-headers.ts';
import { type BodyReader, bodyIsTaken, PlainRequest } from './plain-request.ts';

/**
 * Avoids two costs of Node's IncomingMessage: sorting all headers, and stream events for the body. Relies on Node
 * internals; `pickRequest` tests them at start.
 */
export class LeanRequest extends PlainRequest {
  declare headers: IncomingMessage['headers'];
  /** Node's own mark of a body that somebody reads; without it, it drops what is left when the answer has gone. */
  declare _consuming: boolean;
  #known: KnownHeaders | undefined;
  #arrived = false;
  #reader: BodyReader | undefined;
  #buffered: BufferedBody | undefined;
  #read = false;
  #whole = false;

  static {
    // To their type these are properties, which a class cannot replace by accessors.
    Object.defineProperty(LeanRequest.prototype, 'headers', {
      get(this: LeanRequest): unknown {
        return this.#arrived ? sortedHeaders(this) : this.#readHeaders();
      },
    });
    Object.defineProperty(LeanRequest.prototype, 'readableEnded', {
      get(this: LeanRequest): unknown {
        return this.#read || Reflect.get(IncomingMessage.prototype, 'readableEnded', this);
      },
    });
  }

  override arrive(): KnownHeaders {
    this.#arrived = true;
    return this.#readHeaders();
  }

  override buffer(listener: BufferListener): void {
    this.#buffered = new BufferedBody(listener);
    this.#reader = this.#buffered;
    this._consuming = true;
  }

  override release(): void {
    const buffered = this.#buffered;
    if (buffered === undefined) return;
    this.#buffered = undefined;
    this.#reader = undefined;
    this._consuming = false;
    for (const piece of buffered.pieces) super.push(piece);
    if (buffered.ended) super.push(null);
    this.#read = false;
    this.#whole = this.complete;
  }

  /** Asks the connection for more. Of a body that is there in full there is none, and behind it others wait for their turn. */
  override _read(size: number): void {
    if (this.#whole) this._consuming = true;
    else super._read(size);
  }

  override readBody(reader: BodyReader): void {
    const buffered = this.#buffered;
    if (buffered === undefined && (this.readableLength > 0 || this.complete)) throw bodyIsTaken();
    this.#buffered = undefined;
    this.#reader = reader;
    this._consuming = true;
    for (const piece of buffered?.pieces ?? []) if (this.#reader === reader) reader.piece(piece);
    if (buffered?.ended && this.#reader === reader) this.#finish(reader);
  }

  override dropBody(): void {
    this.#reader = undefined;
    this.resume();
  }

  /** Node's parser brings the body by this. */
  override push(chunk: Buffer | string | null, encoding?: BufferEncoding): boolean {
    const reader = this.#reader;
    if (reader === undefined) return super.push(chunk, encoding);
    if (chunk !== null) {
      reader.piece(chunk as Buffer); // a parser knows of no strings
      return true;
    }
    this.#finish(reader);
    return false;
  }

  #finish(reader: BodyReader): void {
    this.#read = true;
    if (reader === this.#buffered) {
      reader.end();
      return;
    }
    this.#reader = undefined;
    // Not while the parser is at work: what it finds behind the body may be no HTTP, and its answer to that comes first.
    process.nextTick(end, reader);
  }

  #readHeaders(): KnownHeaders {
    this.#known ??= readHeaders(this, sortedHeaders);
    return this.#known;
  }
}

/** All headers, in Node's own way; `headers` would give what is known. */
function sortedHeaders(request: IncomingMessage): IncomingMessage['headers'] {
  return Reflect.get(IncomingMessage.prototype, 'headers', request);
}

function end(reader: BodyReader): void {
  reader.end();
}
