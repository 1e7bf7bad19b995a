import type { ServerResponse } from 'node:http';
import {
  type Clock,
  contain,
  createId,
  HubError,
  type Logger,
  type RandomBytes,
  type Timer,
} from '../../base/index.ts';
import type { Hub } from '../../hub/index.ts';
import { invalidMessage } from '../mcp/index.ts';
import {
  type Authenticator,
  bodyOf,
  ClientSessions,
  type Exchange,
  type KnownHeaders,
  keepAliveMs,
  type PlainRequest,
  readPosted,
  refuseRequest,
  sendStatus,
} from '../mcp-http/index.ts';
import { SseSession } from './sse-session.ts';

export interface SseEndpointDeps {
  readonly hub: Hub;
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
}

/** `/sse` and `/messages`, the HTTP transport of protocol version 2024-11-05, for clients that know nothing newer. */
export class SseEndpoint {
  readonly #deps: SseEndpointDeps;
  readonly #idleMs: number;
  readonly #sessions: ClientSessions<SseSession>;
  readonly #stopTokens: () => void;
  #keepAlive: Timer;
  #closing = false;

  constructor(deps: SseEndpointDeps) {
    const { hub, authenticator, clock, random } = deps;
    const { clientSessionIdleMs: idleMs, maxClientSessions: max } = hub.configuration.serve;
    this.#deps = deps;
    this.#idleMs = idleMs;
    this.#sessions = new ClientSessions({ clock, newId: () => createId(random, 26) }, { idleMs, max });
    this.#stopTokens = authenticator.onTokensChange(() => this.#recheckTokens());
    this.#keepAlive = this.#scheduleBeat();
  }

  get clientSessions(): number {
    return this.#sessions.size;
  }

  /** `/sse`: opens the stream that carries all answers. */
  listen(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): void {
    const { authenticator, logger } = this.#deps;
    try {
      const exchange = authenticator.authenticate(request, response, headers);
      if (request.method !== 'GET') sendStatus(response, 405, ['allow', 'GET']);
      else if (!exchange.acceptsStream) sendStatus(response, 406);
      else this.#open(exchange);
    } catch (error) {
      refuseRequest(response, error, 'null', logger);
    }
  }

  /** `/messages`: takes a message for one of the streams. */
  post(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): void {
    const { hub, authenticator, logger } = this.#deps;
    try {
      const exchange = authenticator.authenticate(request, response, headers);
      if (request.method !== 'POST') {
        sendStatus(response, 405, ['allow', 'POST']);
        return;
      }
      readPosted(
        exchange,
        hub.configuration.serve.maxBodyBytes,
        (text) => this.#receive(exchange, text),
        (error) => refuseRequest(response, error, 'null', logger),
      );
    } catch (error) {
      refuseRequest(response, error, 'null', logger);
    }
  }

  /** Ends each stream once all its requests are answered. */
  close(): void {
    this.#closing = true;
    this.#stopTokens();
    this.#keepAlive.cancel();
    for (const session of this.#sessions.all()) if (session.open === 0) this.#sessions.end(session);
    this.#closeSessionsIfEmpty();
  }

  #open(exchange: Exchange): void {
    if (this.#closing) {
      throw new HubError('HUB_STOPPING', 'The hub is shutting down.', { hint: 'Connect again later.' });
    }
    const deps = { ...this.#deps, onIdle: (idle: SseSession) => this.#endIfClosing(idle) };
    const session = this.#sessions.open(exchange.owner, (facts) => new SseSession(facts, deps, exchange));
    exchange.response.once('close', () => {
      contain(this.#deps.logger, 'client.defect-contained', {}, () => this.#sessions.end(session));
      this.#closeSessionsIfEmpty();
    });
  }

  #receive(exchange: Exchange, text: string): void {
    const { response } = exchange;
    let idText = 'null';
    try {
      const body = bodyOf(text, exchange.headers);
      const first = body.batch ? undefined : body.messages[0];
      if (first?.kind === 'request') idText = first.idText;
      if (first?.kind === 'invalid') throw invalidMessage(first.reason);
      const session = this.#sessionOf(exchange);
      sendStatus(response, 202);
      session.receive(body);
    } catch (error) {
      refuseRequest(response, error, idText, this.#deps.logger);
    }
  }

  #sessionOf({ request, owner }: Exchange): SseSession {
    const id = sessionIdIn(request.url ?? '');
    if (id === null) {
      throw new HubError('INVALID_REQUEST', 'The address lacks its "sessionId".', {
        hint: 'Post to the address that the stream of /sse begins with.',
      });
    }
    const session = this.#sessions.find(id, owner);
    if (session !== undefined) return session;
    throw new HubError('SESSION_UNKNOWN', 'Session not found.', { hint: 'Open /sse again, then initialize.' });
  }

  /** Ends streams whose token was revoked or has expired. */
  #recheckTokens(): void {
    const { authenticator } = this.#deps;
    for (const session of this.#sessions.all()) {
      if (!authenticator.isGood(session.authorization)) this.#sessions.end(session);
    }
  }

  #scheduleBeat(): Timer {
    return this.#deps.clock.setTimer(keepAliveMs, () => this.#beat());
  }

  /** A client that only listens gets a ping before its session counts as idle; its answer counts as a request. */
  #beat(): void {
    this.#recheckTokens();
    const silentBefore = this.#deps.clock.monotonic() - this.#idleMs / 2;
    for (const session of this.#sessions.all()) {
      session.keepAlive();
      if (session.lastRequest <= silentBefore) session.ping();
    }
    this.#keepAlive = this.#scheduleBeat();
  }

  #endIfClosing(session: SseSession): void {
    if (this.#closing) this.#sessions.end(session);
  }

  #closeSessionsIfEmpty(): void {
    if (this.#closing && this.#sessions.size === 0) this.#sessions.close();
  }
}

function sessionIdIn(url: string): string | null {
  const query = url.indexOf('?');
  return query < 0 ? null : new URLSearchParams(url.slice(query)).get('sessionId');
}
