import type { Logger } from '../../base/index.ts';
import type { Connection } from '../connecting/connection.ts';
import { tooManySubscriptions } from '../failures.ts';
import type { PendingRequest } from '../transport.ts';

/** The resources of one server that have subscribers, across its connections. */
export interface ResourceSubscriptions {
  /** The number of subscribed resources. */
  readonly size: number;
  /** The reply is the server's. Unless it is a result, the subscription is dropped. */
  subscribe(connection: Connection, uri: string): PendingRequest;
  unsubscribe(uri: string): void;
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
  /** Includes subscribers that still wait for the server's answer. */
  readonly #subscribers = new Map<string, number>();
  #stopped = false;

  constructor(deps: ResourceSubscriptionsDeps, server: string) {
    this.#deps = deps;
    this.#server = server;
  }

  get size(): number {
    return this.#subscribers.size;
  }

  subscribe(connection: Connection, uri: string): PendingRequest {
    const others = this.#subscribers.get(uri) ?? 0;
    if (others === 0 && this.#subscribers.size >= maxSubscribed) {
      return { reply: Promise.resolve(tooManySubscriptions(this.#server, maxSubscribed)), cancel() {} };
    }
    this.#subscribers.set(uri, others + 1);
    const call = connection.subscribe(uri);
    void call.reply.then((reply) => reply.kind !== 'result' && this.unsubscribe(uri));
    return call;
  }

  unsubscribe(uri: string): void {
    const left = (this.#subscribers.get(uri) ?? 0) - 1;
    if (left < 0) return;
    if (left > 0) this.#subscribers.set(uri, left);
    else {
      this.#subscribers.delete(uri);
      this.#deps.connection()?.unsubscribe(uri);
    }
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
