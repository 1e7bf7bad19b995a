import { contain, defectFields, type Logger } from '../../base/index.ts';
import { notOffered, type Question, readUpstreamMessage } from '../../mcp/index.ts';
import { garbled } from '../failures.ts';
import type { Hearing, WireEvents, WireReply } from '../wire.ts';
import { answerMessage, isPing, pong } from './answer-to-server.ts';
import { askInTurn } from './ask-in-turn.ts';
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
  onAnswer(pending: Pending, answer: WireReply): void;
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
        this.#asked(message.id, message).catch((error: unknown) => {
          this.#deps.logger.error('upstream_defect', { server: this.#server, ...defectFields(error) });
        });
        return;
      case 'garbage':
        if (this.#garbage++ < maxGarbageReports) {
          this.#deps.logger.warn('upstream_garbage', { server: this.#server, reason: message.reason });
        }
        this.#unreadable(message.id, message.reason);
    }
  }

  /** Whoever waits for that answer need not wait until its time is over. */
  #unreadable(id: unknown, reason: string): void {
    const pending = this.#deps.pending.get(id);
    if (pending !== undefined) this.#deps.onAnswer(pending, garbled(this.#server, `an answer ${reason}`));
  }

  #notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/progress') this.#progress(params);
    else if (method === 'notifications/message')
      this.#tell(this.#addressees().at(-1), (hearing) => hearing.log(params));
    else this.#deps.events.onNotification(method, params);
  }

  /** An answer is always owed: a server that waits for one would hang. */
  async #asked(id: string | number, question: Question): Promise<void> {
    const calls = isPing(question) ? [] : this.#addressees();
    if (calls.length === 0) {
      this.#deps.send(answerMessage(id, isPing(question) ? pong : notOffered()));
      return;
    }
    const askers = calls.map((call) => ({
      hearing: call.request.hearing,
      patience: call.patience,
      isUnderWay: () => this.#deps.pending.get(call.id) === call,
    }));
    const who = { logger: this.#deps.logger, server: this.#server };
    this.#deps.send(answerMessage(id, await askInTurn(who, question, askers)));
  }

  /** A defect on the side of one caller must not cost the others their connection. */
  #tell(pending: Pending | undefined, say: (hearing: Hearing) => void): void {
    const hearing = pending?.request.hearing;
    if (hearing === undefined) return;
    contain(this.#deps.logger, 'caller_defect', { server: this.#server }, () => say(hearing));
  }

  /** The calls that a message without a call's id may belong to, oldest first; of several clients nobody can tell which one is meant. */
  #addressees(): Pending[] {
    if (!this.#deps.exclusive) return [];
    const calls = this.#deps.pending.all().filter(({ request }) => request.hearing !== undefined);
    const owner = calls[0]?.request.hearing?.owner;
    return calls.every(({ request }) => request.hearing?.owner === owner) ? calls : [];
  }

  #progress(params: Readonly<Record<string, unknown>>): void {
    const pending = this.#deps.pending.get(params.progressToken);
    if (pending === undefined) return;
    pending.patience.renew();
    this.#tell(pending, (hearing) => hearing.progress(params));
  }
}
