import { IncomingMessage } from 'node:http';
import { type KnownHeaders, readHeaders, sortedHeaders } from './known-headers.ts';

/** Hears the pieces of a body and its end; a client that goes away before that is not heard of. */
export interface BodyReader {
  piece(bytes: Buffer): void;
  end(): void;
}

/**
 * A request without two things that cost more than all that the hub does to let a caller in. Node sorts the headers of
 * each request into a new object, in order to look at two of them: here `headers` is what the hub knows until the hub has
 * the request, and Node's own from then on. And a stream tells of a body by a dozen events over several turns: here
 * a reader may have it as it comes.
 */
export class LeanRequest extends IncomingMessage {
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

  /** For whoever gets the request first. */
  arrive(): KnownHeaders {
    this.#arrived = true;
    return this.#readHeaders();
  }

  /** Before anything of the body is there, which is: in the turn in which the request came. */
  readBody(reader: BodyReader): void {
    if (this.readableLength > 0 || this.complete) throw new Error('The body is on its way to somebody else.');
    this.#reader = reader;
    this._consuming = true;
  }

  /** What is still to come is of no use. */
  dropBody(): void {
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
    this.#known ??= readHeaders(this);
    return this.#known;
  }
}

function end(reader: BodyReader): void {
  reader.end();
}
