import { type Clock, HubError, isJsonObject, type Timer } from '../../base/index.ts';
import type { Agreement } from '../connecting/handshake.ts';
import { cancelled } from '../failures.ts';
import {
  controlRequest,
  type ErrorReply,
  type PendingRequest,
  type ResultReply,
  type Transport,
  type UpstreamReply,
} from '../transport.ts';
import type { LegacySubscriptions } from './legacy-subscriptions.ts';

/** Keeps a modern server's `subscriptions/listen` open. Changes arrive as notifications of the transport. */
export interface Listening extends LegacySubscriptions {
  /** Answered once the server has acknowledged the subscription or left it out. */
  subscribe(uri: string): PendingRequest;
  /** The subscriptions that the server acknowledged. */
  acknowledged(params: Readonly<Record<string, unknown>>): void;
  stop(): void;
}

export interface ListeningDeps {
  readonly clock: Clock;
  readonly transport: Transport;
  /** The hub may have missed announcements. */
  onGap(): void;
}

export function startListening(deps: ListeningDeps, announces: Agreement['announces']): Listening {
  return new Streams(deps, announces);
}

/** A subscription has no end. It is renewed after twelve days. */
const foreverMs = 2 ** 30;
/** Streams usually begin with their acknowledgement. */
const acknowledgeMs = 15_000;
const firstDelayMs = 1000;
const maxDelayMs = 60_000;

interface Stream {
  readonly call: PendingRequest;
  readonly uris: ReadonlySet<string>;
  readonly openedAt: number;
}

interface Watcher {
  readonly uri: string;
  settle(reply: UpstreamReply): void;
}

/** A stream's filter cannot be changed. A new stream takes over, and the old one ends once that is acknowledged. */
class Streams implements Listening {
  readonly #deps: ListeningDeps;
  readonly #lists: Readonly<Record<string, true>>;
  readonly #wanted = new Set<string>();
  readonly #waiting = new Set<Watcher>();
  #current: (Stream & { readonly honoured: ReadonlySet<string> }) | undefined;
  /** Asked for, not yet acknowledged. */
  #next: (Stream & { readonly timeout: Timer }) | undefined;
  #retry: Timer | undefined;
  #delayMs = firstDelayMs;
  #gap = false;
  #stopped = false;

  constructor(deps: ListeningDeps, { tools, resources, prompts }: Agreement['announces']) {
    this.#deps = deps;
    this.#lists = {
      ...(tools && { toolsListChanged: true }),
      ...(resources && { resourcesListChanged: true }),
      ...(prompts && { promptsListChanged: true }),
    };
    this.#open();
  }

  subscribe(uri: string): PendingRequest {
    this.#wanted.add(uri);
    if (this.#next === undefined && this.#current?.honoured.has(uri)) {
      return { reply: Promise.resolve(agreed), cancel() {} };
    }
    let settle: (reply: UpstreamReply) => void = () => {};
    const reply = new Promise<UpstreamReply>((resolve) => {
      settle = resolve;
    });
    const watcher = { uri, settle };
    this.#waiting.add(watcher);
    if (this.#next === undefined) this.#open();
    const cancel = (error: HubError): void => {
      if (this.#waiting.delete(watcher)) settle(cancelled(error, true));
    };
    return { reply, cancel };
  }

  unsubscribe(uri: string): void {
    this.#wanted.delete(uri);
    this.#catchUp();
  }

  acknowledged({ notifications }: Readonly<Record<string, unknown>>): void {
    const next = this.#next;
    if (next === undefined) return;
    this.#next = undefined;
    next.timeout.cancel();
    const said = isJsonObject(notifications) ? notifications.resourceSubscriptions : undefined;
    // One pass through what the server says, which may be long.
    const honoured = new Set(Array.isArray(said) ? said.filter((uri) => next.uris.has(uri)) : []);
    this.#current?.call.cancel(ending());
    this.#current = { ...next, honoured };
    for (const watcher of this.#waiting) {
      if (this.#wanted.has(watcher.uri) && !next.uris.has(watcher.uri)) continue;
      this.#waiting.delete(watcher);
      watcher.settle(honoured.has(watcher.uri) ? agreed : notHonoured(watcher.uri));
    }
    if (this.#gap) this.#deps.onGap();
    this.#gap = false;
    this.#catchUp();
  }

  stop(): void {
    this.#stopped = true;
    this.#retry?.cancel();
    this.#next?.timeout.cancel();
    this.#next?.call.cancel(ending());
    this.#current?.call.cancel(ending());
  }

  #catchUp(): void {
    if (this.#stopped || this.#next !== undefined) return;
    const missing = [...this.#wanted].some((uri) => !this.#current?.uris.has(uri));
    const unneeded = [...(this.#current?.honoured ?? [])].some((uri) => !this.#wanted.has(uri));
    if (missing || unneeded) this.#open();
  }

  #open(): void {
    const { clock, transport } = this.#deps;
    this.#retry?.cancel();
    this.#retry = undefined;
    const uris = new Set(this.#wanted);
    const notifications = { ...this.#lists, ...(uris.size > 0 && { resourceSubscriptions: [...uris] }) };
    if (Object.keys(notifications).length === 0) {
      const unneeded = this.#current;
      this.#current = undefined;
      unneeded?.call.cancel(ending());
      return;
    }
    const call = transport.request(controlRequest('subscriptions/listen', { notifications }, foreverMs));
    // A server that does not acknowledge may still announce list changes.
    const timeout = clock.setTimer(acknowledgeMs, () => this.acknowledged({}));
    this.#next = { call, uris, openedAt: clock.monotonic(), timeout };
    void call.reply.then((reply) => this.#ended(call, reply));
  }

  #ended(call: PendingRequest, reply: UpstreamReply): void {
    const stream = [this.#next, this.#current].find((one) => one?.call === call);
    if (stream === undefined) return;
    const refused = stream === this.#next && reply.kind === 'error';
    if (stream === this.#next) this.#lose(this.#next, reply);
    else this.#current = undefined;
    if (this.#current === undefined) this.#gap = true;
    if (this.#stopped || refused || this.#next !== undefined) return;
    const { clock } = this.#deps;
    if (clock.monotonic() - stream.openedAt > maxDelayMs) this.#delayMs = firstDelayMs;
    this.#retry = clock.setTimer(this.#delayMs, () => this.#again());
    this.#delayMs = Math.min(this.#delayMs * 2, maxDelayMs);
  }

  #lose({ timeout }: { readonly timeout: Timer }, reply: UpstreamReply): void {
    this.#next = undefined;
    timeout.cancel();
    for (const { uri, settle } of this.#waiting) settle(reply.kind === 'result' ? notHonoured(uri) : reply);
    this.#waiting.clear();
  }

  /** While the old stream is open, a new one is needed only for other resources. */
  #again(): void {
    this.#retry = undefined;
    if (this.#current === undefined) this.#open();
    else this.#catchUp();
  }
}

const agreed: ResultReply = { kind: 'result', id: null, text: '{}', value: {} };

function notHonoured(uri: string): ErrorReply {
  const code = -32602;
  const message = 'The server does not support subscriptions to this resource.';
  return { kind: 'error', id: null, text: JSON.stringify({ code, message, data: { uri } }), code, message };
}

function ending(): HubError {
  return new HubError('CANCELLED', 'The subscription ended because no client needs it any more.');
}
