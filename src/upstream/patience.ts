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
  const startedAt = clock.monotonic();
  const capAt = startedAt + maxMs;
  let dueAt = Math.min(startedAt + timeoutMs, capAt);
  let timer: Timer = clock.setTimer(dueAt - startedAt, check);

  // Renewing only moves the due time; the timer looks at it when it fires, so progress costs no timer.
  function check(): void {
    const left = dueAt - clock.monotonic();
    if (left <= 0) onTimeout(dueAt === capAt ? maxMs : timeoutMs);
    else timer = clock.setTimer(Math.ceil(left), check);
  }

  return {
    renew() {
      dueAt = Math.min(clock.monotonic() + timeoutMs, capAt);
    },
    end() {
      timer.cancel();
    },
  };
}
