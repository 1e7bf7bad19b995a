import type { HubError } from '../../base/index.ts';
import type { Deadlines, Patience, Timed } from '../deadlines.ts';
import type { WireCall, WireReply, WireRequest } from '../wire.ts';

/** One request whose answer comes by its id, among others, over a shared stream. */
export class Pending implements WireCall, Timed {
  readonly id: number;
  readonly request: WireRequest;
  readonly reply: Promise<WireReply>;
  readonly patience: Patience;
  settle: (reply: WireReply) => void = () => {};
  readonly #giveUp: GiveUp;

  constructor(id: number, request: WireRequest, deadlines: Deadlines, giveUp: GiveUp) {
    this.id = id;
    this.request = request;
    this.#giveUp = giveUp;
    this.patience = deadlines.start(this, request.timeoutMs, request.maxMs);
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
 * Requests under way by their ids. An id says where its request stands, so that no table is ever made anew for a request that
 * came and one that went; see `LinkedList` for what that would cost.
 */
export class PendingRequests {
  #places: (Pending | undefined)[] = Array.from({ length: fewest }, () => undefined);
  #lastId = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** One that was never given before and whose place is free. */
  nextId(): number {
    if (this.#size * 2 >= this.#places.length) this.#grow();
    do this.#lastId++;
    while (this.#places[this.#placeOf(this.#lastId)] !== undefined);
    return this.#lastId;
  }

  /** For an id of `nextId`, at once. */
  add(pending: Pending): void {
    this.#places[this.#placeOf(pending.id)] = pending;
    this.#size++;
  }

  /** Whatever a server says an id is. */
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

  /** Ids that differ in their last bits differ in one bit more, too. */
  #grow(): void {
    const all = this.all();
    this.#places = Array.from({ length: this.#places.length * 2 }, () => undefined);
    for (const pending of all) this.#places[this.#placeOf(pending.id)] = pending;
  }
}

/** A power of two. */
const fewest = 64;

/** The limit that was reached, or the error of whoever cancelled. */
export type GiveUp = (pending: Pending, why: number | HubError) => void;
