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
  bodyOf,
  createClientSessions,
  type Exchange,
  type KnownHeaders,
  keepAliveMs,
  type PlainRequest,
  type Reception,
  readPosted,
  refuse,
  sendStatus,
} from '../mcp-http/index.ts';
import { SseSession } from './sse-session.ts';

/** `/sse` and `/messages`, the HTTP transport of revision 2024-11-05, for clients that know nothing newer. */
export interface SseEndpoint {
  /** Opens the stream that all answers come on. */
  listen(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): void;
  /** Takes a message for one of the streams. */
  post(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): void;
  readonly clientSessions: number;
  /** Ends each stream once it has the answers to what was asked on it. */
  close(): void;
}

export interface SseEndpointDeps {
  readonly hub: Hub;
  readonly reception: Reception;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
}

export function createSseEndpoint({ hub, reception, clock, logger, random }: SseEndpointDeps): SseEndpoint {
  const { clientSessionIdleMs: idleMs, maxClientSessions: max } = hub.fleet.serve;
  const sessions = createClientSessions<SseSession>({ clock, newId: () => createId(random, 26) }, { idleMs, max });
  const sessionDeps = { hub, clock, logger, random, onIdle: endIfClosing };
  let closing = false;
  let keepAlive: Timer = clock.setTimer(keepAliveMs, beat);
  const stopTokens = reception.onChange(recheck);

  function listen(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): void {
    try {
      const exchange = reception.admit(request, response, headers);
      if (request.method !== 'GET') sendStatus(response, 405, ['allow', 'GET']);
      else if (!exchange.acceptsStream) sendStatus(response, 406);
      else open(exchange);
    } catch (error) {
      refuse(response, error, 'null', logger);
    }
  }

  function open(exchange: Exchange): void {
    if (closing) throw new HubError('HUB_STOPPING', 'The hub is shutting down.', { hint: 'Connect again later.' });
    const session = sessions.open(exchange.owner, (facts) => new SseSession(facts, sessionDeps, exchange));
    exchange.response.once('close', () => {
      contain(logger, 'client_defect', {}, () => sessions.end(session));
      forgetIfClosed();
    });
  }

  function post(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): void {
    try {
      const exchange = reception.admit(request, response, headers);
      if (request.method !== 'POST') {
        sendStatus(response, 405, ['allow', 'POST']);
        return;
      }
      readPosted(
        exchange,
        hub.fleet.serve.maxBodyBytes,
        (text) => receive(exchange, text),
        (error) => refuse(response, error, 'null', logger),
      );
    } catch (error) {
      refuse(response, error, 'null', logger);
    }
  }

  function receive(exchange: Exchange, text: string): void {
    const { response } = exchange;
    let idText = 'null';
    try {
      const body = bodyOf(text, exchange.headers);
      const first = body.batch ? undefined : body.messages[0];
      if (first?.kind === 'request') idText = first.idText;
      if (first?.kind === 'invalid') throw invalidMessage(first.reason);
      const session = sessionOf(exchange);
      sendStatus(response, 202);
      session.receive(body);
    } catch (error) {
      refuse(response, error, idText, logger);
    }
  }

  function sessionOf({ request, owner }: Exchange): SseSession {
    const id = sessionIdIn(request.url ?? '');
    if (id === null) {
      throw new HubError('INVALID_REQUEST', 'The address lacks its "sessionId".', {
        hint: 'Post to the address that the stream of /sse begins with.',
      });
    }
    const session = sessions.find(id, owner);
    if (session !== undefined) return session;
    throw new HubError('SESSION_UNKNOWN', 'Session not found.', { hint: 'Open /sse again, then initialize.' });
  }

  /** Ends streams whose token was revoked or has expired. */
  function recheck(): void {
    for (const session of sessions.all()) if (!reception.isGood(session.authorization)) sessions.end(session);
  }

  /** Who only listens is asked in time whether it still does; sessions without any word end by themselves. */
  function beat(): void {
    recheck();
    const silentBefore = clock.monotonic() - idleMs / 2;
    for (const session of sessions.all()) {
      session.keepAlive();
      if (session.lastRequest <= silentBefore) session.askWhetherThere();
    }
    keepAlive = clock.setTimer(keepAliveMs, beat);
  }

  function endIfClosing(session: SseSession): void {
    if (closing) sessions.end(session);
  }

  function forgetIfClosed(): void {
    if (closing && sessions.size === 0) sessions.close();
  }

  return {
    listen,
    post,
    get clientSessions() {
      return sessions.size;
    },
    close() {
      closing = true;
      stopTokens();
      keepAlive.cancel();
      for (const session of sessions.all()) if (session.open === 0) sessions.end(session);
      forgetIfClosed();
    },
  };
}

function sessionIdIn(url: string): string | null {
  const query = url.indexOf('?');
  return query < 0 ? null : new URLSearchParams(url.slice(query)).get('sessionId');
}
