import { type Clock, type Linked, LinkedList, type Timer } from '../../base/index.ts';

/** Called with the limit that was reached. */
export interface Timed {
  timeOut(limitMs: number): void;
}

/** Silence ends a call and progress prolongs it, but never beyond the cap. */
export interface CallDeadlines {
  /** The server made progress. */
  renew(): void;
  /** The server waits for the caller. The time stands still until `resume`. */
  pause(): void;
  resume(): void;
  end(): void;
}

/**
 * The time limits of all calls of one connection, on one timer. It is set for the earliest limit and left alone when
 * that call ends, so a busy connection sets it about once per timeout and not once per call.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #waiting = new LinkedList<Limit>();
  #timer: Timer | undefined;
  #firesAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(timed: Timed, timeoutMs: number, maxMs: number): CallDeadlines {
    const now = this.#clock.monotonic();
    const limit = new Limit(this, timed, timeoutMs, maxMs, now);
    this.#waiting.add(limit);
    this.expect(limit.dueAt, now);
    return limit;
  }

  /** For limits only: sets the timer to this time, if that is earlier. */
  expect(at: number, now: number): void {
    if (at < this.#firesAt) this.#setTimer(at, now);
  }

  get now(): number {
    return this.#clock.monotonic();
  }

  /** No call times out after this. */
  close(): void {
    this.#timer?.cancel();
    this.#firesAt = Number.NEGATIVE_INFINITY;
  }

  #setTimer(at: number, now: number): void {
    this.#timer?.cancel();
    this.#firesAt = at;
    this.#timer = this.#clock.setTimer(Math.ceil(at - now), () => this.#fire());
  }

  #fire(): void {
    const now = this.#clock.monotonic();
    const over: Limit[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const limit of this.#waiting) {
      if (limit.dueAt <= now) over.push(limit);
      else next = Math.min(next, limit.dueAt);
    }
    this.#firesAt = Number.POSITIVE_INFINITY;
    if (next < this.#firesAt) this.#setTimer(next, now);
    for (const limit of over) limit.timeOut();
  }
}

class Limit implements CallDeadlines, Linked<Limit> {
  readonly #deadlines: Deadlines;
  readonly #timed: Timed;
  readonly #timeoutMs: number;
  readonly #maxMs: number;
  #capAt: number;
  #pauses = 0;
  #pausedAt = 0;
  /** Progress only moves this time. The timer checks it when it fires. */
  dueAt: number;
  list: LinkedList<Limit> | undefined;
  before: Limit | undefined;
  after: Limit | undefined;

  constructor(deadlines: Deadlines, timed: Timed, timeoutMs: number, maxMs: number, now: number) {
    this.#deadlines = deadlines;
    this.#timed = timed;
    this.#timeoutMs = timeoutMs;
    this.#maxMs = maxMs;
    this.#capAt = now + maxMs;
    this.dueAt = Math.min(now + timeoutMs, this.#capAt);
  }

  renew(): void {
    if (this.#pauses === 0) this.dueAt = Math.min(this.#deadlines.now + this.#timeoutMs, this.#capAt);
  }

  pause(): void {
    if (this.#pauses++ > 0) return;
    this.#pausedAt = this.#deadlines.now;
    this.dueAt = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    if (this.#pauses === 0 || --this.#pauses > 0 || this.list === undefined) return;
    const { now } = this.#deadlines;
    this.#capAt += now - this.#pausedAt;
    this.renew();
    this.#deadlines.expect(this.dueAt, now);
  }

  end(): void {
    this.list?.delete(this);
  }

  timeOut(): void {
    // The end of another call may have ended this one too.
    if (this.list === undefined) return;
    this.end();
    this.#timed.timeOut(this.dueAt === this.#capAt ? this.#maxMs : this.#timeoutMs);
  }
}
