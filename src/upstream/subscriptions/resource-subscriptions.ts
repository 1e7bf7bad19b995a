import type { AgentAccount, Logger } from '../../base/index.ts';
import type { Connection } from '../connecting/connection.ts';
import { tooManySubscriptions } from '../failures.ts';
import type { PendingRequest } from '../transport.ts';

/** The resources of one server that have subscribers, across its connections. */
export interface ResourceSubscriptions {
  /** The number of subscribed resources. */
  readonly size: number;
  /** The reply is the server's. Unless it is a result, the subscription is dropped. */
  subscribe(connection: Connection, uri: string, account?: AgentAccount): PendingRequest;
  unsubscribe(uri: string, account?: AgentAccount): void;
  /** The server says that a resource changed. */
  updated(params: Readonly<Record<string, unknown>>): void;
  /** Any subscribed resource may have changed without a notification. */
  missed(): void;
  /** Subscribes again over a new connection. */
  resume(connection: Connection): Promise<void>;
  stop(): void;
}

export interface ResourceSubscriptionsDeps {
  readonly logger: Logger;
  readonly redact: (text: string) => string;
  /** The current connection. */
  readonly connection: () => Connection | undefined;
  readonly onUpdated: (uri: string) => void;
}

const maxSubscribed = 1000;
/** However many others have subscribed to, an agent may subscribe to this many, as long as there is room. */
const minShare = 16;
/** Spares a server that has just come back. */
const resumedAtOnce = 50;

export function createResourceSubscriptions(
  deps: ResourceSubscriptionsDeps,
  options: { readonly server: string },
): ResourceSubscriptions {
  return new SharedSubscriptions(deps, options.server);
}

/** Counts the subscribers of each resource, and keeps one subscription at the server for all of them. */
class SharedSubscriptions implements ResourceSubscriptions {
  readonly #deps: ResourceSubscriptionsDeps;
  readonly #server: string;
  /** How often each agent has subscribed to a resource. Includes those that still wait for the server's answer. */
  readonly #subscribers = new Map<string, Map<AgentAccount | undefined, number>>();
  /** To how many resources each agent has subscribed. */
  readonly #shares = new Map<AgentAccount | undefined, number>();
  #stopped = false;

  constructor(deps: ResourceSubscriptionsDeps, server: string) {
    this.#deps = deps;
    this.#server = server;
  }

  get size(): number {
    return this.#subscribers.size;
  }

  subscribe(connection: Connection, uri: string, account?: AgentAccount): PendingRequest {
    if (!this.#subscribers.has(uri) && !this.#hasRoom(account)) {
      const isFull = this.#subscribers.size >= maxSubscribed;
      return { reply: Promise.resolve(tooManySubscriptions(this.#server, maxSubscribed, isFull)), cancel() {} };
    }
    this.#add(uri, account);
    const call = connection.subscribe(uri);
    void call.reply.then((reply) => reply.kind !== 'result' && this.unsubscribe(uri, account));
    return call;
  }

  unsubscribe(uri: string, account?: AgentAccount): void {
    const subscribers = this.#subscribers.get(uri);
    const left = (subscribers?.get(account) ?? 0) - 1;
    if (subscribers === undefined || left < 0) return;
    if (left > 0) {
      subscribers.set(account, left);
      return;
    }
    subscribers.delete(account);
    count(this.#shares, account, -1);
    if (subscribers.size > 0) return;
    this.#subscribers.delete(uri);
    this.#deps.connection()?.unsubscribe(uri);
  }

  #add(uri: string, account: AgentAccount | undefined): void {
    const subscribers = this.#subscribers.get(uri) ?? new Map<AgentAccount | undefined, number>();
    this.#subscribers.set(uri, subscribers);
    if (!subscribers.has(account)) count(this.#shares, account, 1);
    count(subscribers, account, 1);
  }

  /** An agent may have as many as are left for the others, so that whoever comes later finds room. */
  #hasRoom(account: AgentAccount | undefined): boolean {
    const free = maxSubscribed - this.#subscribers.size;
    if (account === undefined || free === 0) return free > 0;
    return (this.#shares.get(account) ?? 0) < Math.max(free, minShare);
  }

  updated({ uri }: Readonly<Record<string, unknown>>): void {
    // It may be part of a subscribed resource, so only its type is checked here.
    if (typeof uri === 'string') this.#notify(uri);
  }

  missed(): void {
    for (const uri of this.#subscribers.keys()) this.#notify(uri);
  }

  async resume(connection: Connection): Promise<void> {
    const uris = [...this.#subscribers.keys()];
    for (let done = 0; done < uris.length && this.#deps.connection() === connection; done += resumedAtOnce) {
      await Promise.all(uris.slice(done, done + resumedAtOnce).map((uri) => this.#resubscribe(connection, uri)));
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  async #resubscribe(connection: Connection, uri: string): Promise<void> {
    const { logger, redact } = this.#deps;
    if (!this.#subscribers.has(uri)) return;
    const reply = await connection.subscribe(uri).reply;
    if (this.#deps.connection() !== connection || !this.#subscribers.has(uri)) return;
    if (reply.kind !== 'result') {
      const error = reply.kind === 'error' ? reply.message : reply.error.message;
      logger.warn('upstream.subscription-lost', { server: this.#server, uri: redact(uri), error: redact(error) });
    }
    this.#notify(uri);
  }

  #notify(uri: string): void {
    if (!this.#stopped) this.#deps.onUpdated(uri);
  }
}

function count<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const now = (counts.get(key) ?? 0) + change;
  if (now === 0) counts.delete(key);
  else counts.set(key, now);
}
