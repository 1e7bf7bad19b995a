import { contain, defectFields, type Logger } from '../../base/index.ts';
import { type AnswerLimit, notSupported, readUpstreamMessage, type ServerRequest } from '../../mcp/index.ts';
import { garbled, maxUnreadable, noRoomToRead, tooMuchUnreadable } from '../failures.ts';
import type { RequestHandlers, TransportEvents, UpstreamReply } from '../transport.ts';
import { answerMessage, isPing, pong } from './answer-to-server.ts';
import { askInTurn } from './ask-in-turn.ts';
import type { Pending, PendingRequests } from './pending.ts';

/** For transports that receive all messages over one stream. */
export interface SharedStreamOptions {
  readonly server: string;
  /** One caller at a time uses the connection, so requests and logs without a call id are meant for it. */
  readonly exclusive: boolean;
}

export interface InboxDeps {
  readonly logger: Logger;
  readonly events: Pick<TransportEvents, 'onNotification'>;
  readonly pending: Pick<PendingRequests, 'get' | 'all'>;
  onAnswer(pending: Pending, answer: UpstreamReply): void;
  /** Sends the answer to a server's request. */
  send(message: string): void;
  /** The server sends so much that cannot be read that the connection must be closed. */
  onUnreadable(what: string): void;
  readonly exclusive: boolean;
}

/** Enough to see what is wrong, not enough to flood the log. */
const maxGarbageReports = 5;

/** Routes the messages of a stream that all requests of a connection share. */
export class Inbox {
  readonly #server: string;
  readonly #deps: InboxDeps;
  #garbage = 0;
  /** Unreadable messages since the last one that could be read. */
  #garbageInRow = 0;

  constructor(server: string, deps: InboxDeps) {
    this.#server = server;
    this.#deps = deps;
  }

  receive(text: string): void {
    const message = readUpstreamMessage(text, this.#limitOf);
    if (message.kind !== 'garbage') this.#garbageInRow = 0;
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
        this.#asked(message.id, message).catch((error: unknown) => {
          this.#deps.logger.error('upstream.defect-contained', { server: this.#server, ...defectFields(error) });
        });
        return;
      case 'unasked':
        return;
      case 'garbage':
        this.skipped(message.id, message.reason);
    }
  }

  readonly #limitOf: AnswerLimit = (id) => {
    const pending = this.#deps.pending.get(id);
    return pending && (pending.request.maxAnswerLength ?? Number.POSITIVE_INFINITY);
  };

  /** A message that cannot be read, with the id of its request if that is known. */
  skipped(id: unknown, reason: string): void {
    if (this.#garbage++ < maxGarbageReports) {
      this.#deps.logger.warn('upstream.garbage-received', { server: this.#server, reason });
    }
    this.#unreadable(id, reason);
    if (++this.#garbageInRow === maxUnreadable) this.#deps.onUnreadable(tooMuchUnreadable);
  }

  /** A message for which there was no room while it arrived. */
  dropped(id: unknown, bytes: number): void {
    const pending = this.#deps.pending.get(id);
    if (pending === undefined) this.skipped(id, 'that was too large while other servers sent large messages');
    else this.#deps.onAnswer(pending, noRoomToRead(this.#server, bytes));
  }

  /** Whoever waits for that answer need not wait until its time is over. */
  #unreadable(id: unknown, reason: string): void {
    const pending = this.#deps.pending.get(id);
    if (pending !== undefined) this.#deps.onAnswer(pending, garbled(this.#server, `an answer ${reason}`));
  }

  #notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/progress') this.#progress(params);
    else if (method === 'notifications/message')
      this.#tell(this.#addressees().at(-1), (handlers) => handlers.log(params));
    else this.#deps.events.onNotification(method, params);
  }

  /** Always answers, because a server that waits would hang. */
  async #asked(id: string | number, serverRequest: ServerRequest): Promise<void> {
    const calls = isPing(serverRequest) ? [] : this.#addressees();
    if (calls.length === 0) {
      this.#deps.send(answerMessage(id, isPing(serverRequest) ? pong : notSupported()));
      return;
    }
    const askers = calls.map((call) => ({
      handlers: call.request.handlers,
      deadline: call.deadline,
      isInFlight: () => this.#deps.pending.get(call.id) === call,
    }));
    const who = { logger: this.#deps.logger, server: this.#server };
    this.#deps.send(answerMessage(id, await askInTurn(who, serverRequest, askers)));
  }

  /** A defect in the handler of one caller must not end the connection of the others. */
  #tell(pending: Pending | undefined, say: (handlers: RequestHandlers) => void): void {
    const handlers = pending?.request.handlers;
    if (handlers === undefined) return;
    contain(this.#deps.logger, 'caller.defect-contained', { server: this.#server }, () => say(handlers));
  }

  /** The calls to which a message without an id may belong, oldest first. Empty if they have several clients. */
  #addressees(): Pending[] {
    if (!this.#deps.exclusive) return [];
    const calls = this.#deps.pending.all().filter(({ request }) => request.handlers !== undefined);
    const owner = calls[0]?.request.handlers?.owner;
    return calls.every(({ request }) => request.handlers?.owner === owner) ? calls : [];
  }

  #progress(params: Readonly<Record<string, unknown>>): void {
    const pending = this.#deps.pending.get(params.progressToken);
    if (pending === undefined) return;
    pending.deadline.renew();
    this.#tell(pending, (handlers) => handlers.progress(params));
  }
}
