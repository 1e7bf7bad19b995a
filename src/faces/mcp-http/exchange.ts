import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../../domain/index.ts';
import type { KnownHeaders } from './known-headers.ts';

/** One HTTP request from a caller whose identity is proved. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly headers: KnownHeaders;
  readonly response: ServerResponse;
  readonly caller: Caller;
  /** Whose client sessions it may use. */
  readonly owner: string;
  readonly acceptsStream: boolean;
}
