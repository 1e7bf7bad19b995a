import { type Clock, defectFields, type Logger, type RandomBytes } from '../../base/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type Body, sseComment } from '../../mcp/index.ts';
import { Conversation } from '../mcp/index.ts';
import {
  BatchAnswers,
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
  /** Called whenever all requests are answered. */
  onIdle(session: SseSession): void;
}

/** With this much unread, progress and logs are left out; answers and server requests are still sent. */
const behindBytes = 1024 * 1024;

/** One client of the older transport: its stream carries every message of the hub, and it posts its own. */
export class SseSession implements ClientSession {
  readonly id: string;
  readonly owner: string;
  lastRequest: number;
  /** The header that authenticated the stream, to be checked again. */
  readonly authorization: string | undefined;
  readonly #events: EventStream;
  readonly #conversation: Conversation;
  /** The last request before the last ping. */
  #pingedAfter: number | undefined;

  constructor({ id, owner, lastRequest }: SessionFacts, deps: SseSessionDeps, exchange: Exchange) {
    const { response, caller, headers } = exchange;
    this.id = id;
    this.owner = owner;
    this.lastRequest = lastRequest;
    this.authorization = headers.authorization;
    this.#events = openEventStream(response);
    // Without an origin, so that it is right under every name by which clients reach the hub.
    this.#events.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`);
    this.#conversation = new Conversation({
      ...deps,
      caller,
      send: this.#events.send,
      countAnswers: () => new BatchAnswers(response),
      isBehind: () => response.writableLength > behindBytes,
      onIdle: () => deps.onIdle(this),
      onDefect: (error) => {
        deps.logger.error('client.defect-contained', defectFields(error));
        response.destroy();
      },
    });
  }

  /** The number of requests that are not answered yet. */
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

  /** Pings a silent client, once until it sends something again. */
  ping(): void {
    if (this.#pingedAfter === this.lastRequest) return;
    this.#pingedAfter = this.lastRequest;
    this.#events.send('{"jsonrpc":"2.0","id":"qm-ping","method":"ping"}');
  }

  close(): void {
    this.#conversation.close();
    this.#events.end();
  }
}
