import { defectFields, type Logger } from '../../base/index.ts';
import type { ServerRequest } from '../../mcp/index.ts';
import type { TransportEvents } from '../transport.ts';
import { answerMessage, isPing, pong } from './answer-to-server.ts';
import { askInTurn } from './ask-in-turn.ts';
import type { UpstreamExchange } from './http-exchange.ts';
import type { StreamMessage } from './http-stream-messages.ts';

export interface ServerMessagesDeps {
  readonly logger: Logger;
  readonly server: string;
  readonly events: Pick<TransportEvents, 'onNotification'>;
  /** Sends the answer to a request of the server. */
  send(message: string): void;
}

/** Notifications about a call. On a shared connection, the change stream does not say about which one. */
const aboutCalls: ReadonlySet<string> = new Set(['notifications/message', 'notifications/progress']);

/** Handles messages on the change stream. Some servers use it for messages that belong to a call. */
export class HttpServerMessages {
  readonly #deps: ServerMessagesDeps;
  /** Calls to which such a message may belong. */
  readonly #listeners = new Set<UpstreamExchange>();

  constructor(deps: ServerMessagesDeps) {
    this.#deps = deps;
  }

  add(exchange: UpstreamExchange): void {
    this.#listeners.add(exchange);
  }

  delete(exchange: UpstreamExchange): void {
    this.#listeners.delete(exchange);
  }

  /** A defect closes the stream. It is opened again, and the lists are read again. */
  handle(message: StreamMessage): void {
    try {
      this.#handle(message);
    } catch (error) {
      this.#defect(error);
      throw error;
    }
  }

  #handle(message: StreamMessage): void {
    if (message.kind === 'request') this.#ask(message.id, message).catch((error: unknown) => this.#defect(error));
    else if (aboutCalls.has(message.method)) this.#addressees().at(-1)?.handle(message);
    else this.#deps.events.onNotification(message.method, message.params);
  }

  async #ask(id: string | number, serverRequest: ServerRequest): Promise<void> {
    const { logger, server, send } = this.#deps;
    if (isPing(serverRequest)) {
      send(answerMessage(id, pong));
      return;
    }
    const askers = this.#addressees().map((call) => ({
      handlers: call.handlers,
      deadline: call.deadline,
      isInFlight: () => this.#listeners.has(call),
    }));
    send(answerMessage(id, await askInTurn({ logger, server }, serverRequest, askers)));
  }

  /** The calls that may be meant, oldest first. Empty if they belong to several clients. */
  #addressees(): UpstreamExchange[] {
    const calls = [...this.#listeners];
    const owner = calls[0]?.handlers?.owner;
    return calls.every(({ handlers }) => handlers?.owner === owner) ? calls : [];
  }

  #defect(error: unknown): void {
    this.#deps.logger.error('upstream.defect-contained', { server: this.#deps.server, ...defectFields(error) });
  }
}
