import type { Dispatcher } from 'undici';
import type { Clock, Logger } from '../../base/index.ts';
import type { HttpTransportSpec } from '../../domain/index.ts';
import { notification } from '../../mcp/index.ts';
import { Deadlines } from '../connecting/deadlines.ts';
import { lostSession } from '../failures.ts';
import {
  type Envelope,
  type PendingRequest,
  requestText,
  type Transport,
  type TransportEvents,
  type UpstreamRequest,
} from '../transport.ts';
import { openChangeStream, streamReopened } from './change-stream.ts';
import { type Credentials, configuredCredentials } from './credentials.ts';
import { createExchange, type FollowUpRequests, type UpstreamExchange } from './http-exchange.ts';
import { HttpRequests } from './http-requests.ts';
import { HttpServerMessages } from './http-server-messages.ts';
import type { SharedStreamOptions } from './inbox.ts';
import { closePools, openPools, type Pools, parseUrl } from './network.ts';
import { UnansweredPosts } from './unanswered-posts.ts';

export interface HttpTransportDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: TransportEvents;
  /** Without it, the headers of the transport's own specification are sent. */
  readonly credentials?: Credentials | undefined;
}

export interface HttpTransportOptions extends SharedStreamOptions {
  readonly spec: HttpTransportSpec;
}

/** Streamable HTTP: each request is its own POST, so an answer can never reach the wrong call. */
export async function createHttpTransport(deps: HttpTransportDeps, options: HttpTransportOptions): Promise<Transport> {
  const { server, spec } = options;
  const { credentials = configuredCredentials() } = deps;
  const url = parseUrl(server, spec.url);
  const requests = new HttpRequests(spec, url, credentials);
  return new HttpTransport(deps, options, { requests, pools: await openPools(url) });
}

/** A server that keeps asking and accepts no answers gets none. */
const maxAnswersInFlight = 64;
const maxNoticesInFlight = 256;

class HttpTransport implements Transport {
  readonly kind = 'http';
  readonly proven = true;
  /** Each request has its own connection, or waits with its call. */
  readonly queuedBytes = 0;
  readonly #deps: HttpTransportDeps;
  readonly #options: HttpTransportOptions;
  readonly #requests: HttpRequests;
  readonly #pools: Pools;
  readonly #deadlines: Deadlines;
  readonly #notices: UnansweredPosts;
  readonly #messages: HttpServerMessages;
  readonly #legacyWays: FollowUpRequests;
  readonly #modernWays: FollowUpRequests;
  #nextId = 1;
  #inFlight = 0;
  #onIdle: (() => void) | undefined;
  #closed = false;
  #stopChanges: (() => void) | undefined;

  constructor(
    deps: HttpTransportDeps,
    options: HttpTransportOptions,
    { requests, pools }: { readonly requests: HttpRequests; readonly pools: Pools },
  ) {
    this.#deps = deps;
    this.#options = options;
    this.#requests = requests;
    this.#pools = pools;
    this.#deadlines = new Deadlines(deps.clock);
    this.#notices = new UnansweredPosts(pools.notices, this.#deadlines, { max: maxNoticesInFlight });
    const answers = new UnansweredPosts(pools.calls, this.#deadlines, { max: maxAnswersInFlight });
    const send = (message: string): void => answers.send(requests.answer(message));
    this.#messages = new HttpServerMessages({ ...deps, server: options.server, send });
    this.#legacyWays = { send, resume: (lastId, handler) => this.#listen(lastId, handler) };
    this.#modernWays = { send, resume: undefined };
  }

  get sessionId(): string | null {
    return this.#requests.sessionId;
  }

  request(request: UpstreamRequest): PendingRequest {
    const id = this.#nextId++;
    const exchange = this.#exchange(id, request);
    this.#inFlight++;
    if (this.#options.exclusive && request.handlers !== undefined) this.#messages.add(exchange);
    const options = this.#requests.call(request, requestText(id, request, this.#requests.envelope));
    this.#pools.calls.dispatch(options, exchange.handler);
    return exchange;
  }

  notify(method: string, params?: unknown): Promise<void> {
    return new Promise((resolve) => {
      this.#notices.send(this.#requests.notification(method, notification(method, params)), resolve);
    });
  }

  speak(envelope: Envelope): void {
    this.#requests.speak(envelope);
  }

  openChangeStream(): Promise<void> {
    if (this.#closed || this.#stopChanges !== undefined) return Promise.resolve();
    const { clock, events } = this.#deps;
    const { server } = this.#options;
    return new Promise((onSettled) => {
      this.#stopChanges = openChangeStream(
        { clock, open: (lastId, handler) => this.#listen(lastId, handler) },
        {
          onMessage: (message) => this.#messages.handle(message),
          onSettled,
          onReopened: () => events.onNotification(streamReopened, {}),
          onForgotten: () => this.sessionId !== null && events.onLost(lostSession(server, 404).error),
        },
      );
    });
  }

  /** Requests in flight finish first: the loss of one does not end the others. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopChanges?.();
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    this.#deadlines.close();
    // The result does not matter, because the pools are closed within a second.
    if (this.sessionId !== null) this.#pools.calls.dispatch(this.#requests.goodbye(), ignored);
    await closePools(this.#pools, this.#deps.clock);
  }

  #exchange(id: number, request: UpstreamRequest): UpstreamExchange {
    const { clock, logger, events } = this.#deps;
    return createExchange({
      clock,
      logger,
      deadlines: this.#deadlines,
      server: this.#options.server,
      id,
      request,
      sessionId: this.sessionId,
      onSession: request.method === 'initialize' ? (session) => this.#requests.rememberSession(session) : undefined,
      onNotification: events.onNotification,
      onRefused: events.onRefused,
      ways: this.#requests.envelope.era === 'legacy' ? this.#legacyWays : this.#modernWays,
      onGiveUp: (reason) => this.#sayCancelled(id, request.method, reason),
      onEnd: this.#ended,
    });
  }

  readonly #ended = (exchange: UpstreamExchange): void => {
    this.#messages.delete(exchange);
    if (--this.#inFlight === 0) this.#onIdle?.();
  };

  #listen(lastId: string | undefined, handler: Dispatcher.DispatchHandler): void {
    this.#pools.calls.dispatch(this.#requests.stream(lastId), handler);
  }

  /** Modern HTTP cancels by closing the stream, legacy HTTP by a notification. */
  #sayCancelled(id: number, method: string, reason: string): void {
    if (this.#requests.envelope.era === 'modern' || method === 'initialize' || this.#closed) return;
    void this.notify('notifications/cancelled', { requestId: id, reason });
  }
}

const ignored: Dispatcher.DispatchHandler = {
  onRequestStart() {},
  onResponseStart() {},
  onResponseData() {},
  onResponseEnd() {},
  onResponseError() {},
};
