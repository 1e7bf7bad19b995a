import type { Logger } from '../../base/index.ts';
import { readUpstreamMessage } from '../../mcp/index.ts';
import type { WireError, WireEvents, WireResult } from '../wire.ts';
import type { Pending } from './pending.ts';

export interface InboxDeps {
  readonly logger: Logger;
  readonly events: Pick<WireEvents, 'onNotification'>;
  /** Requests under way, by the id that their answers carry. */
  readonly pending: ReadonlyMap<number, Pending>;
  onAnswer(pending: Pending, answer: WireResult | WireError): void;
  onQuestion(id: string | number, method: string): void;
}

/** Enough to see what is wrong, not enough to flood the log. */
const maxGarbageReports = 5;

/** Whatever comes over a stream that all requests of a connection share, brought to whom it concerns. */
export class Inbox {
  readonly #server: string;
  readonly #deps: InboxDeps;
  #garbage = 0;

  constructor(server: string, deps: InboxDeps) {
    this.#server = server;
    this.#deps = deps;
  }

  receive(text: string): void {
    const message = readUpstreamMessage(text);
    switch (message.kind) {
      case 'result':
      case 'error': {
        const pending = this.#deps.pending.get(message.id as number); // a foreign id finds nothing
        if (pending !== undefined) this.#deps.onAnswer(pending, message);
        return;
      }
      case 'notification':
        if (message.method === 'notifications/progress') this.#progress(message.params);
        else this.#deps.events.onNotification(message.method, message.params);
        return;
      case 'request':
        this.#deps.onQuestion(message.id, message.method);
        return;
      case 'garbage':
        if (this.#garbage++ < maxGarbageReports) {
          this.#deps.logger.warn('upstream_garbage', { server: this.#server, reason: message.reason });
        }
    }
  }

  #progress(params: Readonly<Record<string, unknown>>): void {
    const pending = this.#deps.pending.get(params.progressToken as number); // a foreign token finds nothing
    if (pending === undefined) return;
    pending.patience.renew();
    pending.request.onProgress?.(params);
  }
}
