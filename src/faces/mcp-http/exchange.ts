import type { ServerResponse } from 'node:http';
import type { Linked, LinkedList } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { KnownHeaders } from './requests/known-headers.ts';
import type { PlainRequest } from './requests/plain-request.ts';
import type { GrowingAnswer } from './response.ts';

/** One authenticated HTTP request and its response. */
export interface Exchange extends Linked<Exchange> {
  readonly request: PlainRequest;
  readonly headers: KnownHeaders;
  readonly response: ServerResponse;
  readonly caller: Caller;
  /** The id of its token, to which client sessions belong. */
  readonly owner: string;
  readonly acceptsStream: boolean;
  /** Its place among the requests that are not answered yet. */
  list: LinkedList<Exchange> | undefined;
  before: Exchange | undefined;
  after: Exchange | undefined;
  /** When it began to wait for its answer, in the units of the list it is in. */
  since: number;
  /** The answer, if it is a stream or may become one. */
  growing: GrowingAnswer | undefined;
}
