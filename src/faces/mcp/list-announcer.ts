import type { Clock, Timer } from '../../base/index.ts';
import type { AgentLists, ListCaller, ListDigests } from '../../calls/index.ts';
import { type ListName, takingChanges } from './list-changes.ts';

/** A client that is notified when a list of its agent has changed. */
export interface ListListener {
  readonly caller: ListCaller;
  /** The lists that this client knows; brought up to date when it is notified. */
  readonly lists: ListDigests;
  announce(list: ListName): void;
  /** Notifying it failed: this ends the connection of this client alone. */
  fail(error: unknown): void;
}

/** Several servers often change at once; clients are notified once for all of them. */
const gatherMs = 50;
/** The work of one turn of the event loop, a few milliseconds. One is a decision on one entry of a list. */
const workPerTurn = 512;
/** Notifying a client, whatever its lists. */
const workPerClient = 32;

/**
 * Notifies clients which of their lists have changed, in turns of the event loop: there may be many clients, and a server
 * may change many entries, on each of which each agent needs a decision.
 */
export class ListAnnouncer {
  readonly #lists: AgentLists;
  readonly #listeners: () => Iterable<ListListener>;
  readonly #stop: () => void;
  #gathering: Timer | undefined;
  /** In the order in which they have waited. */
  #pending = new Set<ListListener>();
  #notifying: Generator<number> | undefined;
  #closed = false;

  constructor(
    { lists, clock }: { readonly lists: AgentLists; readonly clock: Clock },
    listeners: () => Iterable<ListListener>,
  ) {
    this.#lists = lists;
    this.#listeners = listeners;
    this.#stop = lists.onListsChange(() => {
      this.#gathering ??= clock.setTimer(gatherMs, () => this.#announce());
    });
  }

  close(): void {
    this.#closed = true;
    this.#stop();
    this.#gathering?.cancel();
    this.#pending.clear();
  }

  #announce(): void {
    this.#gathering = undefined;
    const listeners = new Set(this.#listeners());
    // Clients that are still waiting for the previous notification get one for both changes, and keep their place.
    for (const listener of this.#pending) if (!listeners.has(listener)) this.#pending.delete(listener);
    for (const listener of listeners) this.#pending.add(listener);
    if (this.#notifying !== undefined) return;
    this.#notifying = this.#notifyAll();
    this.#turn();
  }

  readonly #turn = (): void => {
    for (let work = 0; work < workPerTurn; ) {
      const step = this.#closed ? undefined : this.#notifying?.next();
      if (step === undefined || step.done === true) {
        this.#notifying = undefined;
        return;
      }
      work += step.value;
    }
    setImmediate(this.#turn);
  };

  *#notifyAll(): Generator<number> {
    for (const listener of this.#pending) {
      this.#pending.delete(listener);
      try {
        yield* this.#notify(listener);
      } catch (error) {
        listener.fail(error);
      }
      yield workPerClient;
    }
  }

  *#notify(listener: ListListener): Generator<number> {
    const { caller, lists } = listener;
    // A server that was just added changes no list until it is discovered, and a client that waits does not list.
    this.#lists.discover(caller);
    for (const list of yield* takingChanges(lists, this.#lists, caller)) listener.announce(list);
  }
}
