import type { Clock, Timer } from '../base/index.ts';

/** One timer for a call: silence ends it, progress prolongs it, the cap holds regardless. */
export interface Patience {
  /** The server gave a sign of life. */
  renew(): void;
  end(): void;
}

/** `onTimeout` hears which of the two limits was reached. */
export function createPatience(
  clock: Clock,
  timeoutMs: number,
  maxMs: number,
  onTimeout: (limitMs: number) => void,
): Patience {
  return new TimedPatience(clock, timeoutMs, maxMs, onTimeout);
}

class TimedPatience implements Patience {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #maxMs: number;
  readonly #capAt: number;
  readonly #onTimeout: (limitMs: number) => void;
  // Renewing only moves the due time; the timer looks at it when it fires, so progress costs no timer.
  readonly #check = (): void => {
    const left = this.#dueAt - this.#clock.monotonic();
    if (left <= 0) this.#onTimeout(this.#dueAt === this.#capAt ? this.#maxMs : this.#timeoutMs);
    else this.#timer = this.#clock.setTimer(Math.ceil(left), this.#check);
  };
  #dueAt: number;
  #timer: Timer;

  constructor(clock: Clock, timeoutMs: number, maxMs: number, onTimeout: (limitMs: number) => void) {
    const startedAt = clock.monotonic();
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#maxMs = maxMs;
    this.#onTimeout = onTimeout;
    this.#capAt = startedAt + maxMs;
    this.#dueAt = Math.min(startedAt + timeoutMs, this.#capAt);
    this.#timer = clock.setTimer(this.#dueAt - startedAt, this.#check);
  }

  renew(): void {
    this.#dueAt = Math.min(this.#clock.monotonic() + this.#timeoutMs, this.#capAt);
  }

  end(): void {
    this.#timer.cancel();
  }
}
