import { IncomingMessage } from 'node:http';
import { type KnownHeaders, readHeaders } from './known-headers.ts';

/** Hears the pieces of a body and its end; a client that goes away before that is not heard of. */
export interface BodyReader {
  piece(bytes: Buffer): void;
  end(): void;
}

/** A request as the hub reads it, by what Node documents alone. */
export class PlainRequest extends IncomingMessage {
  /** For whoever gets the request first. */
  arrive(): KnownHeaders {
    return readHeaders(this);
  }

  /** Before anything of the body is there, which is: in the turn in which the request came. */
  readBody(reader: BodyReader): void {
    if (this.readableLength > 0 || this.complete) throw bodyIsTaken();
    this.on('data', (bytes: Buffer) => reader.piece(bytes));
    this.once('end', () => reader.end());
  }

  /** What is still to come is of no use. */
  dropBody(): void {
    this.removeAllListeners('data');
    this.removeAllListeners('end');
    this.resume();
  }
}

export function bodyIsTaken(): Error {
  return new Error('The body is on its way to somebody else.');
}
