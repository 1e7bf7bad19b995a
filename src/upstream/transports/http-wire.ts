import type { Dispatcher } from 'undici';
import { type Clock, defectFields, type Logger } from '../../base/index.ts';
import type { HttpTransport } from '../../domain/index.ts';
import { encodeHeaderValue, mirroredArgumentHeaders, notification, type Question } from '../../mcp/index.ts';
import { Deadlines } from '../deadlines.ts';
import { lostSession } from '../failures.ts';
import {
  type Envelope,
  legacyEnvelope,
  requestText,
  type Wire,
  type WireCall,
  type WireEvents,
  type WireRequest,
} from '../wire.ts';
import { answerMessage, isPing, pong } from './answer-to-server.ts';
import { askInTurn } from './ask-in-turn.ts';
import { openChangeStream, streamReopened } from './change-stream.ts';
import type { Aside } from './http-asides.ts';
import { createExchange, type Exchange, type Ways } from './http-exchange.ts';
import type { SharedStreamOptions } from './inbox.ts';
import { closePools, openPools, type Pools, parseUrl } from './network.ts';
import { UnansweredPosts } from './unanswered-posts.ts';

/** Streamable HTTP: each request is its own POST, so an answer can never reach the wrong call. */
export async function createHttpWire(
  deps: { readonly clock: Clock; readonly logger: Logger; readonly events: WireEvents },
  options: SharedStreamOptions & { readonly transport: HttpTransport },
): Promise<Wire> {
  const url = parseUrl(options.server, options.transport.url);
  return new HttpWire(deps, options, await openPools(url), url);
}

/** A server that asks without end and takes no answers is not owed one. */
const maxAnswersUnderWay = 64;
const maxNoticesUnderWay = 256;

class HttpWire implements Wire {
  readonly transport = 'http';
  readonly proven = true;
  /** Each request has a connection of its own, or waits with its call. */
  readonly queuedBytes = 0;
  readonly #deps: Parameters<typeof createHttpWire>[0];
  readonly #server: string;
  readonly #pools: Pools;
  readonly #notices: UnansweredPosts;
  readonly #answers: UnansweredPosts;
  readonly #path: string;
  readonly #configured: readonly string[];
  /** Calls that a message on the stream of no call may belong to. */
  readonly #listeners = new Set<Exchange>();
  readonly #exclusive: boolean;
  readonly #deadlines: Deadlines;
  #envelope: Envelope = legacyEnvelope('');
  /** Everything that is the same for each request of this connection. */
  #headers: readonly string[];
  #ways: Ways;
  #sessionId: string | null = null;
  #nextId = 1;
  #underWay = 0;
  #idle: (() => void) | undefined;
  #closed = false;
  #stopChanges: (() => void) | undefined;

  constructor(
    deps: Parameters<typeof createHttpWire>[0],
    options: Parameters<typeof createHttpWire>[1],
    pools: Pools,
    url: URL,
  ) {
    this.#deps = deps;
    this.#server = options.server;
    this.#exclusive = options.exclusive;
    this.#deadlines = new Deadlines(deps.clock);
    this.#pools = pools;
    this.#notices = new UnansweredPosts(pools.notices, this.#deadlines, { max: maxNoticesUnderWay });
    this.#answers = new UnansweredPosts(pools.calls, this.#deadlines, { max: maxAnswersUnderWay });
    this.#path = url.pathname + url.search;
    this.#configured = Object.entries(options.transport.headers).flat();
    this.#headers = this.#commonHeaders();
    this.#ways = this.#waysOfEra();
  }

  get sessionId(): string | null {
    return this.#sessionId;
  }

  request(request: WireRequest): WireCall {
    const id = this.#nextId++;
    const exchange = createExchange({
      clock: this.#deps.clock,
      logger: this.#deps.logger,
      deadlines: this.#deadlines,
      server: this.#server,
      id,
      request,
      sessionId: this.#sessionId,
      onSession: request.method === 'initialize' ? (session) => this.#rememberSession(session) : undefined,
      onNotification: this.#deps.events.onNotification,
      onRefused: this.#deps.events.onRefused,
      ways: this.#ways,
      // Modern HTTP cancels by closing the stream; legacy says so.
      onGiveUp: (reason) => this.#sayCancelled(id, request.method, reason),
      onEnd: () => {
        this.#listeners.delete(exchange);
        if (--this.#underWay === 0) this.#idle?.();
      },
    });
    this.#underWay++;
    if (this.#exclusive && request.hearing !== undefined) this.#listeners.add(exchange);
    this.#dispatch('POST', this.#requestHeaders(request), requestText(id, request, this.#envelope), exchange.handler);
    return { reply: exchange.reply, cancel: exchange.cancel };
  }

  notify(method: string, params?: unknown): Promise<void> {
    const headers =
      this.#envelope.era === 'modern' ? [...this.#postHeaders(), 'mcp-method', method] : this.#postHeaders();
    return new Promise((resolve) => {
      this.#notices.send(this.#posted(headers, notification(method, params)), resolve);
    });
  }

  speak(envelope: Envelope): void {
    this.#envelope = envelope;
    this.#headers = this.#commonHeaders();
    this.#ways = this.#waysOfEra();
  }

  openChangeStream(): Promise<void> {
    if (this.#closed || this.#stopChanges !== undefined) return Promise.resolve();
    return new Promise((onSettled) => {
      this.#stopChanges = openChangeStream(
        {
          clock: this.#deps.clock,
          open: (lastId, handler) => this.#listen(lastId, handler),
        },
        {
          onMessage: (message) => this.#announced(message),
          onSettled,
          onReopened: () => this.#deps.events.onNotification(streamReopened, {}),
          onForgotten: () => this.#sessionId !== null && this.#deps.events.onLost(lostSession(this.#server, 404).error),
        },
      );
    });
  }

  /** The calls that are meant, oldest first; of several clients nobody can tell which one. */
  #addressees(): Exchange[] {
    const calls = [...this.#listeners];
    const owner = calls[0]?.hearing?.owner;
    return calls.every(({ hearing }) => hearing?.owner === owner) ? calls : [];
  }

  /** A defect closes the stream: it is opened again, and what was missed is asked for. */
  #announced(message: Aside): void {
    try {
      this.#hear(message);
    } catch (error) {
      this.#deps.logger.error('upstream_defect', { server: this.#server, ...defectFields(error) });
      throw error;
    }
  }

  /** Some servers say on this stream whatever is meant for their only client: it is meant for a call under way. */
  #hear(message: Aside): void {
    if (message.kind === 'request') {
      this.#asked(message.id, message).catch((error: unknown) => {
        this.#deps.logger.error('upstream_defect', { server: this.#server, ...defectFields(error) });
      });
    } else if (forCallers.has(message.method)) this.#addressees().at(-1)?.hear(message);
    else this.#deps.events.onNotification(message.method, message.params);
  }

  async #asked(id: string | number, question: Question): Promise<void> {
    const calls = isPing(question) ? [] : this.#addressees();
    const askers = calls.map((call) => ({
      hearing: call.hearing,
      patience: call.patience,
      isUnderWay: () => this.#listeners.has(call),
    }));
    const who = { logger: this.#deps.logger, server: this.#server };
    this.#ways.send(answerMessage(id, isPing(question) ? pong : await askInTurn(who, question, askers)));
  }

  /** Requests under way finish first: a lost connection of one is not the end of the others. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopChanges?.();
    if (this.#underWay > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    this.#deadlines.close();
    // Whatever becomes of it: the pools are closed within a second.
    if (this.#sessionId !== null) this.#dispatch('DELETE', this.#headers, null, ignored);
    await closePools(this.#pools, this.#deps.clock);
  }

  #commonHeaders(): readonly string[] {
    const headers = [...this.#configured, 'content-type', 'application/json'];
    if (this.#envelope.version !== '') headers.push('mcp-protocol-version', this.#envelope.version);
    if (this.#sessionId !== null) headers.push('mcp-session-id', this.#sessionId);
    return headers;
  }

  #waysOfEra(): Ways {
    const legacy = this.#envelope.era === 'legacy';
    return {
      send: (message) => this.#answers.send(this.#posted(this.#postHeaders(), message)),
      resume: legacy ? (lastId, handler) => this.#listen(lastId, handler) : undefined,
    };
  }

  /** A stream of the server's own; with the id of an event, the one that this event was part of. */
  #listen(lastId: string | undefined, handler: Dispatcher.DispatchHandler): void {
    const headers = [...this.#headers, 'accept', 'text/event-stream'];
    if (lastId) headers.push('last-event-id', lastId);
    this.#dispatch('GET', headers, null, handler);
  }

  /** Many servers refuse a POST without both, whatever it carries. */
  #postHeaders(): string[] {
    return [...this.#headers, 'accept', 'application/json, text/event-stream'];
  }

  #requestHeaders(request: WireRequest): string[] {
    const headers = this.#postHeaders();
    if (request.headers !== undefined) headers.push(...request.headers);
    if (this.#envelope.era === 'legacy') return headers;
    headers.push('mcp-method', request.method);
    if (request.name !== undefined) headers.push('mcp-name', encodeHeaderValue(request.name));
    if (request.mirrored.length > 0) headers.push(...mirroredArgumentHeaders(request.mirrored, request.args).flat());
    return headers;
  }

  #dispatch(
    method: 'GET' | 'POST' | 'DELETE',
    headers: readonly string[],
    body: string | null,
    handler: Dispatcher.DispatchHandler,
  ): void {
    this.#pools.calls.dispatch({ path: this.#path, method, headers: headers as string[], body }, handler); // undici only reads it
  }

  #posted(headers: string[], body: string): Dispatcher.DispatchOptions {
    return { path: this.#path, method: 'POST', headers, body };
  }

  #rememberSession(session: string): void {
    this.#sessionId = session;
    this.#headers = this.#commonHeaders();
  }

  #sayCancelled(id: number, method: string, reason: string): void {
    if (this.#envelope.era === 'modern' || method === 'initialize' || this.#closed) return;
    void this.notify('notifications/cancelled', { requestId: id, reason });
  }
}

/** Notifications that concern a call; over the stream of no call they cannot be told apart on a shared connection. */
const forCallers: ReadonlySet<string> = new Set(['notifications/message', 'notifications/progress']);

const ignored: Dispatcher.DispatchHandler = {
  onRequestStart() {},
  onResponseStart() {},
  onResponseData() {},
  onResponseEnd() {},
  onResponseError() {},
};
