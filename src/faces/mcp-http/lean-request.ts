import { IncomingMessage } from 'node:http';
import { type KnownHeaders, readHeaders } from './known-headers.ts';
import { type BodyReader, bodyIsTaken, PlainRequest } from './plain-request.ts';

/**
 * A request without two things that cost more than all that the hub does to let a caller in. Node sorts the headers of
 * each request into a new object, in order to look at two of them: here `headers` is what the hub knows until the hub has
 * the request, and Node's own from then on. And a stream tells of a body by a dozen events over several turns: here
 * a reader may have it as it comes. That leans on how Node works inside: `pickRequest` tries it first.
 */
export class LeanRequest extends PlainRequest {
  declare headers: IncomingMessage['headers'];
  /** Node's own mark of a body that somebody reads; without it, it drops what is left when the answer has gone. */
  declare _consuming: boolean;
  #known: KnownHeaders | undefined;
  #arrived = false;
  #reader: BodyReader | undefined;
  #read = false;

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

  override readBody(reader: BodyReader): void {
    if (this.readableLength > 0 || this.complete) throw bodyIsTaken();
    this.#reader = reader;
    this._consuming = true;
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
    this.#reader = undefined;
    this.#read = true;
    // Not while the parser is at work: what it finds behind the body may be no HTTP, and its answer to that comes first.
    process.nextTick(end, reader);
    return false;
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
