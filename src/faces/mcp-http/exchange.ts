import type { ServerResponse } from 'node:http';
import type { Linked, LinkedList } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { KnownHeaders } from './known-headers.ts';
import type { PlainRequest } from './plain-request.ts';
import type { GrowingAnswer } from './response.ts';

/** One HTTP request from a caller whose identity is proved. */
export interface Exchange extends Linked<Exchange> {
  readonly request: PlainRequest;
  readonly headers: KnownHeaders;
  readonly response: ServerResponse;
  readonly caller: Caller;
  /** Whose client sessions it may use. */
  readonly owner: string;
  readonly acceptsStream: boolean;
  /** Of those whose answer is not there yet. */
  list: LinkedList<Exchange> | undefined;
  before: Exchange | undefined;
  after: Exchange | undefined;
  /** When it began to wait for its answer, in the time of whoever waits with it. */
  since: number;
  /** Of an answer that is, or may become, a stream. */
  growing: GrowingAnswer | undefined;
}
