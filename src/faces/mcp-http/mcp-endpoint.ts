import type { ServerResponse } from 'node:http';
import { type Clock, createId, type Logger, type RandomBytes } from '../../base/index.ts';
import { type CallsAwaitingInput, createCallsAwaitingInput } from '../../calls/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type Body, classify, isModernVersion, type Message, type MirroredHeaders } from '../../mcp/index.ts';
import {
  awaitingInputLimits,
  holdBody,
  invalidMessage,
  ListAnnouncer,
  type ListListener,
  MultiRoundTrips,
} from '../mcp/index.ts';
import type { Authenticator } from './authenticator.ts';
import type { Exchange } from './exchange.ts';
import { endSession, postLegacy } from './legacy.ts';
import { answerBatch } from './legacy-batch.ts';
import type { LegacyDeps } from './legacy-session.ts';
import { openGetStream } from './legacy-stream.ts';
import { createListenStreams } from './listen-streams.ts';
import { type ModernDeps, postModern } from './modern.ts';
import type { KnownHeaders } from './requests/known-headers.ts';
import type { PlainRequest } from './requests/plain-request.ts';
import { bodyOf, readPosted } from './requests/posted.ts';
import { refuseRequest, sendStatus } from './response.ts';
import { ClientSessions } from './sessions/client-sessions.ts';
import type { HttpSession } from './sessions/http-session.ts';
import { StreamUpkeep } from './stream-upkeep.ts';
import { WaitingAnswers } from './waiting-answers.ts';

export interface McpEndpointDeps {
  readonly hub: Hub;
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
}

const maxSubscriptions = 4096;

/** `/mcp`: both protocol eras at one address, decided for each request. */
export class McpEndpoint {
  readonly #deps: McpEndpointDeps;
  readonly #awaitingInput: CallsAwaitingInput;
  readonly #legacy: LegacyDeps;
  readonly #modern: ModernDeps;
  readonly #upkeep: StreamUpkeep;
  readonly #announcer: ListAnnouncer;

  constructor(deps: McpEndpointDeps) {
    const { hub, authenticator, clock, logger, random } = deps;
    const { clientSessionIdleMs, maxClientSessions } = hub.configuration.serve;
    const newId = (): string => createId(random, 26);
    const recheckToken = (exchange: Exchange): void => authenticator.recheckToken(exchange);
    const sessions = new ClientSessions<HttpSession>(
      { clock, newId },
      { idleMs: clientSessionIdleMs, max: maxClientSessions },
    );
    const subscriptions = createListenStreams(maxSubscriptions);
    const waiting = new WaitingAnswers();
    this.#deps = deps;
    this.#awaitingInput = createCallsAwaitingInput({ clock, newId }, awaitingInputLimits);
    const roundTrips = new MultiRoundTrips({ hub, awaitingInput: this.#awaitingInput });
    this.#legacy = { hub, clock, logger, sessions, recheckToken };
    this.#modern = { hub, logger, roundTrips, subscriptions, waiting, recheckToken };
    this.#upkeep = new StreamUpkeep({ clock, logger, authenticator, sessions, subscriptions, waiting });
    this.#announcer = new ListAnnouncer({ lists: hub.lists, clock }, () => this.#listeners());
  }

  get clientSessions(): number {
    return this.#legacy.sessions.size;
  }

  // Plain functions and callbacks: an async function for each layer costs more than what the layers do.
  handle(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): void {
    const { authenticator, logger } = this.#deps;
    try {
      const exchange = authenticator.authenticate(request, response, headers);
      if (request.method === 'POST') this.#post(exchange);
      else if (isModernVersion(headers['mcp-protocol-version'] ?? '')) notAllowed(response, 'POST');
      else if (request.method === 'GET') openGetStream(this.#legacy, exchange);
      else if (request.method === 'DELETE') endSession(this.#legacy, exchange);
      else notAllowed(response, 'GET, POST, DELETE');
    } catch (error) {
      refuseRequest(response, error, 'null', logger);
    }
  }

  /** Ends open streams as the protocol prescribes. */
  close(): void {
    this.#announcer.close();
    this.#upkeep.close();
    this.#modern.subscriptions.close();
    this.#awaitingInput.close('stopping');
    this.#legacy.sessions.close();
  }

  #post(exchange: Exchange): void {
    const { hub, logger } = this.#deps;
    readPosted(
      exchange,
      hub.configuration.serve.maxBodyBytes,
      (text) => this.#receive(exchange, text),
      (error) => refuseRequest(exchange.response, error, 'null', logger),
    );
  }

  #receive(exchange: Exchange, text: string): void {
    const { response } = exchange;
    const { logger } = this.#deps;
    let idText = 'null';
    try {
      const body = bodyOf(text, exchange.headers);
      const first = body.messages[0];
      if (first?.kind === 'request' && !body.batch) idText = first.idText;
      const work = body.heldBytes === 0 ? this.#answerAll(exchange, body) : this.#answerLarge(exchange, body);
      work?.catch((error: unknown) => refuseRequest(response, error, idText, logger));
    } catch (error) {
      refuseRequest(response, error, idText, logger);
    }
  }

  async #answerLarge(exchange: Exchange, body: Body): Promise<void> {
    const release = holdBody(exchange.caller, body);
    try {
      await this.#answerAll(exchange, body);
    } finally {
      release();
    }
  }

  /** Answers at once, or returns a promise that rejects when it cannot. */
  #answerAll(exchange: Exchange, { batch, messages }: Body): Promise<void> | undefined {
    const first = messages[0];
    return batch || first === undefined ? answerBatch(this.#legacy, exchange, messages) : this.#answer(exchange, first);
  }

  #answer(exchange: Exchange, message: Message): Promise<void> | undefined {
    if (message.kind === 'invalid') throw invalidMessage(message.reason);
    const headers = mirroredHeaders(exchange.headers);
    return classify(message, headers) === 'modern'
      ? postModern(this.#modern, exchange, message, headers)
      : postLegacy(this.#legacy, exchange, message);
  }

  *#listeners(): Iterable<ListListener> {
    for (const { stream } of this.#legacy.sessions.all()) if (stream !== undefined) yield stream;
    yield* this.#modern.subscriptions.all();
  }
}

function mirroredHeaders(headers: KnownHeaders): MirroredHeaders {
  return {
    protocolVersion: headers['mcp-protocol-version'],
    method: headers['mcp-method'],
    name: headers['mcp-name'],
  };
}

function notAllowed(response: ServerResponse, allowed: string): void {
  sendStatus(response, 405, ['allow', allowed]);
}
