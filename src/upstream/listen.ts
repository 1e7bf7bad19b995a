import { type Clock, HubError, isJsonObject, type Timer } from '../base/index.ts';
import { cancelled } from './failures.ts';
import type { Agreement } from './handshake.ts';
import type { Subscriptions } from './subscriptions.ts';
import { controlRequest, type Wire, type WireCall, type WireError, type WireReply, type WireResult } from './wire.ts';

/** A modern server's `subscriptions/listen`, kept open; changes arrive as notifications of the wire. */
export interface Listening extends Subscriptions {
  /** Answered once the server has said whether it tells of changes of that resource. */
  watch(uri: string): WireCall;
  /** What the server says it will tell of. */
  acknowledged(params: Readonly<Record<string, unknown>>): void;
  stop(): void;
}

export interface ListeningDeps {
  readonly clock: Clock;
  readonly wire: Wire;
  /** For a while nobody heard what the server announced. */
  onGap(): void;
}

export function startListening(deps: ListeningDeps, announces: Agreement['announces']): Listening {
  return new Streams(deps, announces);
}

/** A subscription has no natural end; after twelve days it is simply asked for again. */
const foreverMs = 2 ** 30;
/** Streams usually begin with their acknowledgement. */
const acknowledgeMs = 15_000;
const firstDelayMs = 1000;
const maxDelayMs = 60_000;

interface Stream {
  readonly call: WireCall;
  readonly uris: ReadonlySet<string>;
  readonly openedAt: number;
}

interface Watcher {
  readonly uri: string;
  settle(reply: WireReply): void;
}

/** What is listened for cannot be changed: another stream takes over, and the old one ends once the new one is there. */
class Streams implements Listening {
  readonly #deps: ListeningDeps;
  readonly #lists: Readonly<Record<string, true>>;
  readonly #wanted = new Set<string>();
  readonly #waiting = new Set<Watcher>();
  #current: (Stream & { readonly honoured: ReadonlySet<string> }) | undefined;
  /** Asked for, not yet acknowledged. */
  #next: (Stream & { readonly patience: Timer }) | undefined;
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

  watch(uri: string): WireCall {
    this.#wanted.add(uri);
    if (this.#next === undefined && this.#current?.honoured.has(uri)) {
      return { reply: Promise.resolve(agreed), cancel() {} };
    }
    let settle: (reply: WireReply) => void = () => {};
    const reply = new Promise<WireReply>((resolve) => {
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

  unwatch(uri: string): void {
    this.#wanted.delete(uri);
    this.#catchUp();
  }

  acknowledged({ notifications }: Readonly<Record<string, unknown>>): void {
    const next = this.#next;
    if (next === undefined) return;
    this.#next = undefined;
    next.patience.cancel();
    const said = isJsonObject(notifications) ? notifications.resourceSubscriptions : undefined;
    const honoured = new Set([...next.uris].filter((uri) => Array.isArray(said) && said.includes(uri)));
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
    this.#next?.patience.cancel();
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
    const { clock, wire } = this.#deps;
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
    const call = wire.request(controlRequest('subscriptions/listen', { notifications }, foreverMs));
    // A server that does not acknowledge may tell of its lists all the same.
    const patience = clock.setTimer(acknowledgeMs, () => this.acknowledged({}));
    this.#next = { call, uris, openedAt: clock.monotonic(), patience };
    void call.reply.then((reply) => this.#ended(call, reply));
  }

  #ended(call: WireCall, reply: WireReply): void {
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

  #lose({ patience }: { readonly patience: Timer }, reply: WireReply): void {
    this.#next = undefined;
    patience.cancel();
    for (const { uri, settle } of this.#waiting) settle(reply.kind === 'result' ? notHonoured(uri) : reply);
    this.#waiting.clear();
  }

  /** While the old stream lives, another one is worth it only if it is about something else. */
  #again(): void {
    this.#retry = undefined;
    if (this.#current === undefined) this.#open();
    else this.#catchUp();
  }
}

const agreed: WireResult = { kind: 'result', id: null, text: '{}', value: {} };

function notHonoured(uri: string): WireError {
  const code = -32602;
  const message = 'The server does not tell of changes of this resource.';
  return { kind: 'error', id: null, text: JSON.stringify({ code, message, data: { uri } }), code, message };
}

function ending(): HubError {
  return new HubError('CANCELLED', 'Nobody listens any more.');
}
