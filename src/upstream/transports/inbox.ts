import type { Logger } from '../../base/index.ts';
import { notOffered, type Question, readUpstreamMessage } from '../../mcp/index.ts';
import type { WireError, WireEvents, WireResult } from '../wire.ts';
import { answerMessage, isPing, pong } from './answer-to-server.ts';
import type { Pending, PendingRequests } from './pending.ts';

/** For wires whose messages all come over one stream. */
export interface SharedStreamOptions {
  readonly server: string;
  /** One caller at a time uses the connection: what the server asks or logs without naming a call is meant for it. */
  readonly exclusive: boolean;
}

export interface InboxDeps {
  readonly logger: Logger;
  readonly events: Pick<WireEvents, 'onNotification'>;
  readonly pending: Pick<PendingRequests, 'get' | 'all'>;
  onAnswer(pending: Pending, answer: WireResult | WireError): void;
  /** Brings the answer to a server's question on its way. */
  send(message: string): void;
  readonly exclusive: boolean;
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
        const pending = this.#deps.pending.get(message.id);
        if (pending !== undefined) this.#deps.onAnswer(pending, message);
        return;
      }
      case 'notification':
        this.#notified(message.method, message.params);
        return;
      case 'request':
        void this.#asked(message.id, message);
        return;
      case 'garbage':
        if (this.#garbage++ < maxGarbageReports) {
          this.#deps.logger.warn('upstream_garbage', { server: this.#server, reason: message.reason });
        }
    }
  }

  #notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/progress') this.#progress(params);
    else if (method === 'notifications/message') this.#addressee()?.request.hearing?.log(params);
    else this.#deps.events.onNotification(method, params);
  }

  /** An answer is always owed: a server that waits for one would hang. */
  async #asked(id: string | number, question: Question): Promise<void> {
    const pending = this.#addressee();
    const { hearing } = pending?.request ?? {};
    if (pending === undefined || hearing === undefined || isPing(question)) {
      this.#deps.send(answerMessage(id, isPing(question) ? pong : notOffered()));
      return;
    }
    pending.patience.hold();
    const answer = await hearing.ask(question);
    pending.patience.resume();
    this.#deps.send(answerMessage(id, answer));
  }

  /** Whose call a message without a call's id belongs to; of several clients nobody can tell which one is meant. */
  #addressee(): Pending | undefined {
    if (!this.#deps.exclusive) return undefined;
    let newest: Pending | undefined;
    for (const pending of this.#deps.pending.all()) {
      const { hearing } = pending.request;
      if (hearing === undefined) continue;
      if (newest !== undefined && newest.request.hearing?.owner !== hearing.owner) return undefined;
      newest = pending;
    }
    return newest;
  }

  #progress(params: Readonly<Record<string, unknown>>): void {
    const pending = this.#deps.pending.get(params.progressToken);
    if (pending === undefined) return;
    pending.patience.renew();
    pending.request.hearing?.progress(params);
  }
}
