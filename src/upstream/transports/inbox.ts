import { contain, defectFields, type Logger } from '../../base/index.ts';
import { notOffered, type Question, type QuestionAnswer, readUpstreamMessage, unanswered } from '../../mcp/index.ts';
import { garbled } from '../failures.ts';
import type { Hearing, WireEvents, WireReply } from '../wire.ts';
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

  /**
   * An answer is always owed: a server that waits for one would hang. Of several calls of one client nobody knows which
   * one asks, so the time of all of them stands still.
   */
  async #asked(id: string | number, question: Question): Promise<void> {
    const calls = isPing(question) ? [] : this.#addressees();
    if (calls.length === 0) {
      this.#deps.send(answerMessage(id, isPing(question) ? pong : notOffered()));
      return;
    }
    for (const { patience } of calls) patience.hold();
    const answer = await this.#answerFor(question, calls);
    for (const { patience } of calls) patience.resume();
    this.#deps.send(answerMessage(id, answer));
  }

  /** A call that ends takes the question back from its client; then it was another's, whose client is asked again. */
  async #answerFor(question: Question, calls: readonly Pending[]): Promise<QuestionAnswer> {
    let answer = notOffered();
    for (const call of calls.toReversed()) {
      const { hearing } = call.request;
      if (hearing === undefined || !this.#isUnderWay(call)) continue;
      try {
        answer = await hearing.ask(question);
      } catch (error) {
        return this.#notAsked(error);
      }
      if (answer.kind === 'result' || this.#isUnderWay(call)) return answer;
    }
    return answer;
  }

  #isUnderWay(call: Pending): boolean {
    return this.#deps.pending.get(call.id) === call;
  }

  #notAsked(error: unknown): QuestionAnswer {
    this.#deps.logger.error('caller_defect', { server: this.#server, ...defectFields(error) });
    return unanswered('The client could not be asked');
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
