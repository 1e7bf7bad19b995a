import type { Clock, Timer } from '../../base/index.ts';
import type { AgentLists, ListCaller, ListDigests } from '../../calls/index.ts';
import { type ListName, takeChanges } from './list-changes.ts';

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
/** Notifying many clients at once would delay the calls of others. */
const maxPerTurn = 16;

/** Notifies clients which of their lists have changed, a few clients per turn of the event loop. */
export class ListAnnouncer {
  readonly #lists: AgentLists;
  readonly #listeners: () => Iterable<ListListener>;
  readonly #stop: () => void;
  #gathering: Timer | undefined;
  #pending: ListListener[] = [];
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
    this.#pending = [];
  }

  #announce(): void {
    this.#gathering = undefined;
    const isNotifying = this.#pending.length > 0;
    // Clients that are still waiting for the previous notification get one for both changes.
    this.#pending = [...this.#listeners()].reverse();
    if (!isNotifying) this.#notifySome();
  }

  #notifySome(): void {
    for (let notified = 0; notified < maxPerTurn; notified++) {
      const listener = this.#pending.pop();
      if (listener === undefined) return;
      try {
        this.#notify(listener);
      } catch (error) {
        listener.fail(error);
      }
    }
    if (this.#pending.length > 0 && !this.#closed) setImmediate(() => this.#notifySome());
  }

  #notify(listener: ListListener): void {
    const { caller, lists } = listener;
    // A server that was just added changes no list until it is discovered, and a client that waits does not list.
    this.#lists.discover(caller);
    for (const list of takeChanges(lists, this.#lists, caller)) listener.announce(list);
  }
}
