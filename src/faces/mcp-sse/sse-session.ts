import { type Clock, defectFields, type Logger, type RandomBytes } from '../../base/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type Body, sseComment } from '../../mcp/index.ts';
import { Conversation } from '../mcp/index.ts';
import {
  type ClientSession,
  type EventStream,
  type Exchange,
  openEventStream,
  type SessionFacts,
} from '../mcp-http/index.ts';

export interface SseSessionDeps {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  /** Whenever the last request has its answer. */
  onIdle(session: SseSession): void;
}

/** With this much unread, steps and log lines are left out; answers and questions still go. */
const behindBytes = 1024 * 1024;

/** One client of the older transport: a stream that carries all the hub has to say, and whatever is posted to it. */
export class SseSession implements ClientSession {
  readonly id: string;
  readonly owner: string;
  lastRequest: number;
  /** What proved the right to the stream, to be proved again. */
  readonly authorization: string | undefined;
  readonly #events: EventStream;
  readonly #conversation: Conversation;
  /** The last request before the client was asked whether it is there. */
  #silentSince: number | undefined;

  constructor({ id, owner, lastRequest }: SessionFacts, deps: SseSessionDeps, exchange: Exchange) {
    const { response, caller, headers } = exchange;
    this.id = id;
    this.owner = owner;
    this.lastRequest = lastRequest;
    this.authorization = headers.authorization;
    this.#events = openEventStream(response);
    // Without an origin, so that it holds behind whatever name the client knows the hub by.
    this.#events.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`);
    this.#conversation = new Conversation({
      ...deps,
      caller,
      send: this.#events.send,
      isBehind: () => response.writableLength > behindBytes,
      onIdle: () => deps.onIdle(this),
      onDefect: (error) => {
        deps.logger.error('client_defect', defectFields(error));
        response.destroy();
      },
    });
  }

  /** Requests without an answer. */
  get open(): number {
    return this.#conversation.open;
  }

  get busy(): boolean {
    return this.open > 0;
  }

  receive(body: Body): void {
    this.#conversation.receive(body);
  }

  keepAlive(): void {
    this.#events.write(sseComment);
  }

  /** Asks a silent client whether it is there, once; its answer is a request like any other. */
  askWhetherThere(): void {
    if (this.#silentSince === this.lastRequest) return;
    this.#silentSince = this.lastRequest;
    this.#events.send('{"jsonrpc":"2.0","id":"qm-ping","method":"ping"}');
  }

  close(): void {
    this.#conversation.close();
    this.#events.end();
  }
}
