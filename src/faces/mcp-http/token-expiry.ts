import type { Clock, Timer } from '../../base/index.ts';
import type { TokenBook } from '../../governance/index.ts';

/** Timers cannot wait as long as tokens last, so the next expiry is looked up again within a day. */
const longestTimerMs = 86_400_000;

/** Calls back when a token expires. */
export class TokenExpiry {
  readonly #tokens: TokenBook;
  readonly #clock: Clock;
  readonly #onExpired: () => void;
  #timer: Timer | undefined;

  constructor(deps: { readonly tokens: TokenBook; readonly clock: Clock }, onExpired: () => void) {
    this.#tokens = deps.tokens;
    this.#clock = deps.clock;
    this.#onExpired = onExpired;
  }

  /** Waits for the token that expires next; call it again whenever tokens have changed. */
  arm(): void {
    this.#timer?.cancel();
    const next = this.#tokens.nextExpiry();
    const waitMs = next === undefined ? undefined : Math.min(next - this.#clock.now(), longestTimerMs);
    this.#timer = waitMs === undefined ? undefined : this.#clock.setTimer(waitMs, this.#onExpired);
  }

  close(): void {
    this.#timer?.cancel();
  }
}
