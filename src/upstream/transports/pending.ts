import type { HubError } from '../../base/index.ts';
import type { CallDeadlines, Deadlines, Timed } from '../connecting/deadlines.ts';
import type { PendingRequest, UpstreamReply, UpstreamRequest } from '../transport.ts';

/** One request on a shared stream, where answers are matched by id. */
export class Pending implements PendingRequest, Timed {
  readonly id: number;
  readonly request: UpstreamRequest;
  readonly reply: Promise<UpstreamReply>;
  readonly deadline: CallDeadlines;
  settle: (reply: UpstreamReply) => void = () => {};
  readonly #giveUp: GiveUp;

  constructor(id: number, request: UpstreamRequest, deadlines: Deadlines, giveUp: GiveUp) {
    this.id = id;
    this.request = request;
    this.#giveUp = giveUp;
    this.deadline = deadlines.start(this, request.timeoutMs, request.maxMs);
    this.reply = new Promise((settle) => {
      this.settle = settle;
    });
  }

  cancel(error: HubError): void {
    this.#giveUp(this, error);
  }

  timeOut(limitMs: number): void {
    this.#giveUp(this, limitMs);
  }
}

/**
 * Requests in flight by id. The id contains the index in the table, so that the table never has to be rebuilt as
 * requests come and go; `LinkedList` describes that cost.
 */
export class PendingRequests {
  #places: (Pending | undefined)[] = Array.from({ length: fewest }, () => undefined);
  #lastId = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** An unused id whose place in the table is free. */
  nextId(): number {
    if (this.#size * 2 >= this.#places.length) this.#grow();
    do this.#lastId++;
    while (this.#places[this.#placeOf(this.#lastId)] !== undefined);
    return this.#lastId;
  }

  /** Call it right after `nextId`. */
  add(pending: Pending): void {
    this.#places[this.#placeOf(pending.id)] = pending;
    this.#size++;
  }

  /** The id may be anything that a server sends. */
  get(id: unknown): Pending | undefined {
    if (typeof id !== 'number') return undefined;
    const pending = this.#places[this.#placeOf(id)];
    return pending?.id === id ? pending : undefined;
  }

  delete(pending: Pending): boolean {
    if (this.get(pending.id) !== pending) return false;
    this.#places[this.#placeOf(pending.id)] = undefined;
    this.#size--;
    return true;
  }

  /** Oldest first. */
  all(): Pending[] {
    return this.#places.filter((pending) => pending !== undefined).sort((a, b) => a.id - b.id);
  }

  #placeOf(id: number): number {
    return id & (this.#places.length - 1);
  }

  /** Two ids with different places still have different places, because only one more bit counts. */
  #grow(): void {
    const all = this.all();
    this.#places = Array.from({ length: this.#places.length * 2 }, () => undefined);
    for (const pending of all) this.#places[this.#placeOf(pending.id)] = pending;
  }
}

/** A power of two. */
const fewest = 64;

/** The limit that was reached, or the error of the cancellation. */
export type GiveUp = (pending: Pending, why: number | HubError) => void;
