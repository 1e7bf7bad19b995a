import { IncomingMessage } from 'node:http';
import type { ClientBytes } from '../client-bytes.ts';
import type { BufferListener } from './buffered-body.ts';
import { type KnownHeaders, readHeaders } from './known-headers.ts';

/** Gets the pieces of a body and its end; neither if the client disconnects first. */
export interface BodyReader {
  piece(bytes: Buffer): void;
  end(): void;
}

/** A request that the hub reads with documented Node APIs only. */
export class PlainRequest extends IncomingMessage {
  /** The budgets of its agent, once its token is known to be valid. */
  bytes: ClientBytes | undefined;
  #buffered = false;

  /** Called once, by the first handler of the request. */
  arrive(): KnownHeaders {
    return readHeaders(this);
  }

  /** Keeps the body for a reader that comes later. */
  buffer(_listener: BufferListener): void {
    this.#buffered = true;
  }

  /** The request was handled: Node treats a body that was not read as usual. */
  release(): void {}

  /** Must be called before any of the body arrives, in the turn in which the request came, unless the request is buffered. */
  readBody(reader: BodyReader): void {
    if (!this.#buffered && (this.readableLength > 0 || this.complete)) throw bodyIsTaken();
    this.on('data', (bytes: Buffer) => reader.piece(bytes));
    this.once('end', () => reader.end());
  }

  /** Discards the rest of the body. */
  dropBody(): void {
    this.removeAllListeners('data');
    this.removeAllListeners('end');
    this.resume();
  }
}

export function bodyIsTaken(): Error {
  return new Error('The body is on its way to somebody else.');
}
