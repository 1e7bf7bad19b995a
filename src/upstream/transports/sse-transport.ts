import type { Pool } from 'undici';
import { type Clock, defectFields, type Logger } from '../../base/index.ts';
import type { SseTransportSpec } from '../../domain/index.ts';
import { notification } from '../../mcp/index.ts';
import { type CallDeadlines, Deadlines } from '../connecting/deadlines.ts';
import { cancelled, defective, lostConnection, timedOut } from '../failures.ts';
import {
  type Envelope,
  type FailedReply,
  legacyEnvelope,
  type PendingRequest,
  requestText,
  type Transport,
  type TransportEvents,
  type UpstreamReply,
  type UpstreamRequest,
} from '../transport.ts';
import { type Credentials, configuredCredentials } from './credentials.ts';
import { Inbox, type SharedStreamOptions } from './inbox.ts';
import { InputQueue, maxQueuedBytes } from './input-queue.ts';
import { closePools, isConnectionRefusal, openPools, type Pools, parseUrl } from './network.ts';
import { type GiveUp, Pending, PendingRequests } from './pending.ts';
import { Post } from './sse-post.ts';
import { SseStream } from './sse-stream.ts';

/** The HTTP+SSE transport of 2024-11-05: messages are posted, and all answers come over one stream. */
export async function createSseTransport(
  deps: SseTransportDeps,
  options: SharedStreamOptions & { readonly spec: SseTransportSpec },
): Promise<Transport> {
  const url = parseUrl(options.server, options.spec.url);
  return new SseTransport(deps, options, await openPools(url), url);
}

export interface SseTransportDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: TransportEvents;
  /** Without it, the headers of the transport's own specification are sent. */
  readonly credentials?: Credentials | undefined;
}

/** The status of the response that carries all answers. With any other there is no stream. */
const streamStatus = 200;
/** The most answers to server requests in flight. */
const maxAnswersInFlight = 64;
/** The deadline of a message without an answer. */
const noticeMs = 10_000;
/** If the answer arrives first, its POST may take this long to end, so that its connection can be reused. */
const lingerMs = 1000;

class SseTransport implements Transport {
  readonly kind = 'sse';
  readonly sessionId = null;
  proven = false;
  readonly #deps: SseTransportDeps;
  readonly #server: string;
  readonly #pools: Pools;
  readonly #transport: SseTransportSpec;
  readonly #credentials: Credentials;
  readonly #stream: SseStream;
  readonly #deadlines: Deadlines;
  readonly #pending = new PendingRequests();
  readonly #input: InputQueue;
  readonly #posts = new WeakMap<Pending, Post>();
  /** Posts that wait for the endpoint, or for the end of the handshake. */
  #queue: Post[] = [];
  #isWaiting = true;
  #path: string | undefined;
  #headers: readonly string[] = [];
  #envelope: Envelope = legacyEnvelope('');
  #queuedBytes = 0;
  #answers = 0;
  #gone: FailedReply | undefined;
  #closed = false;
  #idle: (() => void) | undefined;

  constructor(
    deps: SseTransportDeps,
    { server, spec: transport, exclusive }: Parameters<typeof createSseTransport>[1],
    pools: Pools,
    url: URL,
  ) {
    this.#deps = deps;
    this.#server = server;
    this.#pools = pools;
    this.#deadlines = new Deadlines(deps.clock);
    this.#input = new InputQueue(server);
    this.#transport = transport;
    this.#credentials = deps.credentials ?? configuredCredentials();
    this.speak(this.#envelope);
    const inbox = new Inbox(server, {
      ...deps,
      pending: this.#pending,
      onAnswer: (pending, answer) => {
        if (pending.request.name !== undefined && answer.kind !== 'failed') this.proven = true;
        this.#settle(pending, { ...answer, httpStatus: streamStatus });
      },
      send: (message) => this.#answer(message),
      onUnreadable: (what) => {
        this.#stream.close();
        this.#fail(lostConnection(server, what, true));
      },
      exclusive,
    });
    this.#stream = new SseStream(
      { server, url },
      {
        onEndpoint: (path) => {
          this.#path = path;
          this.#release();
        },
        onMessage: (text) => {
          try {
            inbox.receive(text);
          } catch (error) {
            deps.logger.error('upstream.defect-contained', { server, ...defectFields(error) });
            this.#fail(defective(server, error));
          }
        },
        onEnd: (failure) => this.#fail(failure),
      },
    );
    const headers = [...this.#credentials.headersFor(transport), 'accept', 'text/event-stream'];
    pools.calls.dispatch({ path: url.pathname + url.search, method: 'GET', headers }, this.#stream);
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  request(request: UpstreamRequest): PendingRequest {
    if (this.#gone !== undefined) return { reply: Promise.resolve({ ...this.#gone, sent: false }), cancel() {} };
    const queued = this.#queuedBytes;
    const id = this.#pending.nextId();
    const text = requestText(id, request, this.#envelope);
    const { account } = request;
    const refusal = this.#input.refusal(queued, text.length, account);
    if (refusal !== undefined) return { reply: Promise.resolve(refusal), cancel() {} };
    const pending = new Pending(id, request, this.#deadlines, this.#giveUp);
    this.#pending.add(pending);
    const bytes = this.#input.add(queued, text.length, account) ? text.length : 0;
    const post = this.#post(text, this.#pools.calls, (failure) => {
      if (account !== undefined && bytes > 0) this.#input.remove(bytes, account);
      if (failure === undefined || this.#pending.get(id) === undefined) return;
      if (isConnectionRefusal(failure.httpStatus ?? 0)) this.#deps.events.onRefused(failure.error);
      this.#settle(pending, failure);
    });
    if (this.#pending.get(id) !== undefined) this.#posts.set(pending, post);
    return pending;
  }

  notify(method: string, params?: unknown): undefined {
    if (this.#gone !== undefined || this.#queuedBytes > maxQueuedBytes) return;
    // Some servers refuse messages that arrive before this one.
    const last = method === 'notifications/initialized';
    const post = this.#notice(notification(method, params), this.#pools.notices, () => last && this.#release());
    if (last && !post.ended) this.#isWaiting = true;
  }

  speak(envelope: Envelope): void {
    this.#envelope = envelope;
    const version = envelope.version === '' ? [] : ['mcp-protocol-version', envelope.version];
    this.#headers = ['content-type', 'application/json', ...version];
  }

  /** Changes are announced on the stream that is always open. */
  openChangeStream(): undefined {}

  /** Requests in flight finish first: the refusal of one does not end the others. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#pending.size > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    this.#deadlines.close();
    this.#stream.close();
    await closePools(this.#pools, this.#deps.clock);
  }

  #post(text: string, pool: Pool, onEnd: (failure: FailedReply | undefined) => void): Post {
    const size = text.length;
    const post = new Post(this.#server, text, pool, (failure) => {
      this.#queuedBytes -= size;
      onEnd(failure);
    });
    this.#queuedBytes += size;
    if (this.#isWaiting) this.#queue.push(post);
    else this.#dispatchPost(post);
    return post;
  }

  /** A message without an answer. Its connection is released in any case. */
  #notice(text: string, pool: Pool, onEnd: () => void): Post {
    let deadline: CallDeadlines | undefined;
    let post: Post | undefined;
    const begun = this.#post(text, pool, () => {
      deadline?.end();
      if (post?.complete === false) this.#deadlines.start(post, lingerMs, lingerMs);
      onEnd();
    });
    post = begun;
    if (!begun.ended) deadline = this.#deadlines.start(begun, noticeMs, noticeMs);
    return begun;
  }

  #release(): void {
    if (this.#path === undefined) return;
    this.#isWaiting = false;
    const waiting = this.#queue;
    this.#queue = [];
    for (const post of waiting) if (!post.ended) this.#dispatchPost(post);
  }

  #dispatchPost(post: Post): void {
    const path = this.#path as string; // posts wait until it is known
    const headers = [...this.#credentials.headersFor(this.#transport), ...this.#headers];
    post.pool.dispatch({ path, method: 'POST', headers, body: post.take() }, post);
  }

  /** A server that keeps asking and accepts no answers gets none. */
  #answer(message: string): void {
    if (this.#gone !== undefined || this.#answers >= maxAnswersInFlight || this.#queuedBytes > maxQueuedBytes) return;
    this.#answers++;
    this.#notice(message, this.#pools.calls, () => {
      this.#answers--;
    });
  }

  readonly #giveUp: GiveUp = (pending, why) => {
    const { id, request } = pending;
    if (this.#pending.get(id) === undefined) return;
    const timeout = typeof why === 'number';
    const post = this.#posts.get(pending);
    const sent = post?.started === true;
    post?.abort();
    const failure = timeout ? timedOut(this.#server, request.method, why) : cancelled(why, sent);
    this.#settle(pending, { ...failure, httpStatus: post?.status });
    // The protocol forbids cancelling `initialize`. Late answers are dropped by their id.
    if (!sent || request.method === 'initialize') return;
    this.notify('notifications/cancelled', { requestId: id, reason: timeout ? 'timeout' : why.message });
  };

  #settle(pending: Pending, reply: UpstreamReply): void {
    const post = this.#posts.get(pending);
    this.#pending.delete(pending);
    this.#posts.delete(pending);
    pending.deadline.end();
    pending.settle(reply);
    if (post?.complete === false) this.#deadlines.start(post, lingerMs, lingerMs);
    if (this.#pending.size === 0) this.#idle?.();
  }

  #fail(failure: FailedReply): void {
    if (this.#gone !== undefined) return;
    const what = String(failure.error.details.reason ?? failure.error.message);
    const lost = failure.cause === 'connection' && failure.sent;
    this.#gone = lost ? lostConnection(this.#server, what, false, failure.error.cause) : failure;
    const pending = this.#pending.all();
    const sent = new Set(pending.filter((call) => this.#posts.get(call)?.started === true));
    for (const call of pending) this.#posts.get(call)?.abort();
    for (const call of pending) {
      const reply = sent.has(call) ? failure : this.#gone;
      this.#settle(call, { ...reply, httpStatus: this.#posts.get(call)?.status ?? reply.httpStatus });
    }
    this.#queue = [];
    this.#deadlines.close();
    if (!this.#closed) this.#deps.events.onLost(this.#gone.error);
  }
}
