import type { Pool } from 'undici';
import { type Clock, defectFields, type Logger } from '../../base/index.ts';
import type { SseTransport } from '../../domain/index.ts';
import { notification } from '../../mcp/index.ts';
import { Deadlines, type Patience } from '../deadlines.ts';
import { cancelled, defective, lostConnection, queueFull, timedOut } from '../failures.ts';
import {
  type Envelope,
  legacyEnvelope,
  requestText,
  type Wire,
  type WireCall,
  type WireEvents,
  type WireFailure,
  type WireReply,
  type WireRequest,
} from '../wire.ts';
import { Inbox, type SharedStreamOptions } from './inbox.ts';
import { closePools, isRefusal, openPools, type Pools, parseUrl } from './network.ts';
import { type GiveUp, Pending, PendingRequests } from './pending.ts';
import { Post } from './sse-post.ts';
import { createSseStream } from './sse-stream.ts';

/** HTTP with server-sent events, as of 2024: messages are posted, all answers come over one stream. */
export async function createSseWire(
  deps: SseWireDeps,
  options: SharedStreamOptions & { readonly transport: SseTransport },
): Promise<Wire> {
  const url = parseUrl(options.server, options.transport.url);
  return new SseWire(deps, options, await openPools(url), url);
}

export interface SseWireDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: WireEvents;
}

/** A server that takes no messages may not make the hub hold more than this for it. */
const maxQueuedBytes = 16 * 1024 * 1024;
/** Nor answer more of its questions at once. */
const maxAnswersUnderWay = 64;
/** A message that nobody waits for is given up after this. */
const noticeMs = 10_000;
/** The answer was here first: its POST has this long to end by itself and leave its connection to the next. */
const lingerMs = 1000;

class SseWire implements Wire {
  readonly transport = 'sse';
  readonly sessionId = null;
  proven = false;
  readonly #deps: SseWireDeps;
  readonly #server: string;
  readonly #pools: Pools;
  readonly #configured: readonly string[];
  readonly #stream: ReturnType<typeof createSseStream>;
  readonly #deadlines: Deadlines;
  readonly #pending = new PendingRequests();
  readonly #posts = new WeakMap<Pending, Post>();
  /** Waits for the endpoint, or for the server to know that the handshake is over. */
  #queue: Post[] = [];
  #held = true;
  #path: string | undefined;
  #headers: readonly string[] = [];
  #envelope: Envelope = legacyEnvelope('');
  #queuedBytes = 0;
  #answers = 0;
  #gone: WireFailure | undefined;
  #closed = false;
  #idle: (() => void) | undefined;

  constructor(
    deps: SseWireDeps,
    { server, transport, exclusive }: Parameters<typeof createSseWire>[1],
    pools: Pools,
    url: URL,
  ) {
    this.#deps = deps;
    this.#server = server;
    this.#pools = pools;
    this.#deadlines = new Deadlines(deps.clock);
    this.#configured = Object.entries(transport.headers).flat();
    this.speak(this.#envelope);
    const inbox = new Inbox(server, {
      ...deps,
      pending: this.#pending,
      onAnswer: (pending, answer) => {
        if (pending.request.name !== undefined && answer.kind !== 'failed') this.proven = true;
        this.#settle(pending, answer);
      },
      send: (message) => this.#answer(message),
      exclusive,
    });
    this.#stream = createSseStream(
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
            deps.logger.error('upstream_defect', { server, ...defectFields(error) });
            this.#fail(defective(server, error));
          }
        },
        onEnd: (failure) => this.#fail(failure),
      },
    );
    const headers = [...this.#configured, 'accept', 'text/event-stream'];
    pools.calls.dispatch({ path: url.pathname + url.search, method: 'GET', headers }, this.#stream.handler);
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  request(request: WireRequest): WireCall {
    if (this.#gone !== undefined) return { reply: Promise.resolve({ ...this.#gone, sent: false }), cancel() {} };
    const queued = this.#queuedBytes;
    if (queued > maxQueuedBytes) return { reply: Promise.resolve(queueFull(this.#server, queued)), cancel() {} };
    const id = this.#pending.nextId();
    const pending = new Pending(id, request, this.#deadlines, this.#giveUp);
    this.#pending.add(pending);
    const post = this.#post(requestText(id, request, this.#envelope), this.#pools.calls, (failure) => {
      if (failure === undefined || this.#pending.get(id) === undefined) return;
      if (isRefusal(failure.httpStatus ?? 0)) this.#deps.events.onRefused(failure.error);
      this.#settle(pending, failure);
    });
    if (this.#pending.get(id) !== undefined) this.#posts.set(pending, post);
    return pending;
  }

  notify(method: string, params?: unknown): undefined {
    if (this.#gone !== undefined || this.#queuedBytes > maxQueuedBytes) return;
    // Some servers refuse whatever overtakes this one on its way.
    const last = method === 'notifications/initialized';
    const post = this.#notice(notification(method, params), this.#pools.notices, () => last && this.#release());
    if (last && !post.ended) this.#held = true;
  }

  speak(envelope: Envelope): void {
    this.#envelope = envelope;
    const version = envelope.version === '' ? [] : ['mcp-protocol-version', envelope.version];
    this.#headers = [...this.#configured, 'content-type', 'application/json', ...version];
  }

  /** Changes are announced on the stream that is open anyway. */
  openChangeStream(): undefined {}

  /** Requests under way finish first: what another one was refused is not their end. */
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

  #post(text: string, pool: Pool, onEnd: (failure: WireFailure | undefined) => void): Post {
    const size = text.length;
    const post = new Post(this.#server, text, pool, (failure) => {
      this.#queuedBytes -= size;
      onEnd(failure);
    });
    this.#queuedBytes += size;
    if (this.#held) this.#queue.push(post);
    else this.#dispatchPost(post);
    return post;
  }

  /** A message that has no answer. Taken or not, its connection is given back. */
  #notice(text: string, pool: Pool, onEnd: () => void): Post {
    let patience: Patience | undefined;
    let post: Post | undefined;
    const begun = this.#post(text, pool, () => {
      patience?.end();
      if (post?.complete === false) this.#deadlines.start(post, lingerMs, lingerMs);
      onEnd();
    });
    post = begun;
    if (!begun.ended) patience = this.#deadlines.start(begun, noticeMs, noticeMs);
    return begun;
  }

  #release(): void {
    if (this.#path === undefined) return;
    this.#held = false;
    const waiting = this.#queue;
    this.#queue = [];
    for (const post of waiting) if (!post.ended) this.#dispatchPost(post);
  }

  #dispatchPost(post: Post): void {
    const path = this.#path as string; // nothing is released before it is known
    const headers = this.#headers as string[]; // undici only reads it
    post.pool.dispatch({ path, method: 'POST', headers, body: post.take() }, post);
  }

  /** A server that asks without end and takes no answers is not owed one. */
  #answer(message: string): void {
    if (this.#gone !== undefined || this.#answers >= maxAnswersUnderWay || this.#queuedBytes > maxQueuedBytes) return;
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
    this.#settle(pending, timeout ? timedOut(this.#server, request.method, why) : cancelled(why, sent));
    // Nobody may cancel initialize; a late answer to anything else is dropped by its id.
    if (!sent || request.method === 'initialize') return;
    this.notify('notifications/cancelled', { requestId: id, reason: timeout ? 'timeout' : why.message });
  };

  #settle(pending: Pending, reply: WireReply): void {
    const post = this.#posts.get(pending);
    this.#pending.delete(pending);
    this.#posts.delete(pending);
    pending.patience.end();
    pending.settle(reply);
    if (post?.complete === false) this.#deadlines.start(post, lingerMs, lingerMs);
    if (this.#pending.size === 0) this.#idle?.();
  }

  #fail(failure: WireFailure): void {
    if (this.#gone !== undefined) return;
    const what = String(failure.error.details.reason ?? failure.error.message);
    const lost = failure.cause === 'connection' && failure.sent;
    this.#gone = lost ? lostConnection(this.#server, what, false, failure.error.cause) : failure;
    const pending = this.#pending.all();
    const sent = new Set(pending.filter((call) => this.#posts.get(call)?.started === true));
    for (const call of pending) this.#posts.get(call)?.abort();
    for (const call of pending) this.#settle(call, sent.has(call) ? failure : this.#gone);
    this.#queue = [];
    this.#deadlines.close();
    if (!this.#closed) this.#deps.events.onLost(this.#gone.error);
  }
}
