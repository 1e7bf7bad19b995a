import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../../domain/index.ts';

/** One HTTP request from a caller whose identity is proved. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  /** Whose client sessions it may use. */
  readonly owner: string;
  readonly acceptsStream: boolean;
  /** Streams outlive the moment at which this was checked, and check it again. */
  readonly authorization: string | undefined;
}
