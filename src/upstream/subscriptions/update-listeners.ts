import { contain, type Logger } from '../../base/index.ts';
import { maxUriLength } from '../../domain/index.ts';

/** One client's subscription to one resource. */
export interface UpdateListener {
  /** The same for all subscriptions of the client. A change that several of them cover is told once. */
  readonly client: unknown;
  /** The resource, or a part of it, changed. Returns whether the client was notified. */
  updated(changed: string): boolean;
}

/** Changes that wait. More are told as changes of the whole resource. */
const maxWaiting = 1000;
/** Each may need a decision. */
const listenersPerTurn = 32;

/**
 * Notifies listeners of changed resources, in turns of the loop: a server may report any number of changes, and each may
 * have many listeners. A change that is reported again while it waits is told once. A defect of one listener does not
 * affect the others.
 */
export class UpdateListeners {
  readonly #logger: Logger;
  readonly #server: string;
  readonly #listeners = new Map<string, Set<UpdateListener>>();
  readonly #waiting = new Set<string>();
  #notifying: Generator<void> | undefined;

  constructor(logger: Logger, server: string) {
    this.#logger = logger;
    this.#server = server;
  }

  /** For changes of this resource and its parts. */
  add(uri: string, listener: UpdateListener): () => void {
    const others = this.#listeners.get(uri) ?? new Set();
    this.#listeners.set(uri, others.add(listener));
    return () => {
      others.delete(listener);
      if (others.size === 0 && this.#listeners.get(uri) === others) this.#listeners.delete(uri);
    };
  }

  tell(changed: string): void {
    // Nobody may read a longer one.
    if (changed.length > maxUriLength) return;
    const [nearest] = this.#covering(changed);
    if (nearest === undefined) return;
    this.#waiting.add(this.#waiting.size < maxWaiting ? changed : nearest);
    if (this.#notifying !== undefined) return;
    this.#notifying = this.#notify();
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    for (let left = listenersPerTurn; left > 0; left--) {
      if (this.#notifying?.next().done !== false) {
        this.#notifying = undefined;
        return;
      }
    }
    setImmediate(this.#turn);
  };

  *#notify(): Generator<void> {
    const fields = { server: this.#server };
    for (const changed of this.#waiting) {
      this.#waiting.delete(changed);
      const notified = new Set<unknown>();
      for (const uri of this.#covering(changed)) {
        for (const listener of this.#listeners.get(uri) ?? []) {
          if (notified.has(listener.client)) continue;
          contain(this.#logger, 'caller.defect-contained', fields, () => {
            if (listener.updated(changed)) notified.add(listener.client);
          });
          yield;
        }
      }
    }
  }

  /** The subscribed resources that the changed one is or belongs to, the nearest first. */
  *#covering(changed: string): Generator<string> {
    for (const uri of urisAround(changed)) if (this.#listeners.has(uri)) yield uri;
  }
}

/** The URI itself, and all that it may be a part of. */
export function* urisAround(uri: string): Generator<string> {
  yield uri;
  for (let at = uri.length - 1; at >= 0; at--) {
    const character = uri.charAt(at);
    if (character === '/' && at + 1 < uri.length) yield uri.slice(0, at + 1);
    if (at > 0 && '/?#'.includes(character)) yield uri.slice(0, at);
  }
}
