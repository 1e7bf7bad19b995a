/** Time as a dependency, so that tests can move it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that never jumps; for durations. */
  monotonic(): number;
  setTimer(ms: number, run: () => void): Timer;
}

export interface Timer {
  cancel(): void;
  /** The process may end while it runs. */
  unref?(): void;
}

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    setTimer(ms, run) {
      return new SystemTimer(run, ms);
    },
  };
}

/** One for each call under way: an object without a closure. */
class SystemTimer implements Timer {
  readonly #handle: NodeJS.Timeout;

  constructor(run: () => void, ms: number) {
    this.#handle = setTimeout(run, ms);
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  unref(): void {
    this.#handle.unref();
  }
}

/** Resolves after `ms`, or at once when the signal aborts; the caller looks at the signal. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const timer = clock.setTimer(ms, finish);
    signal?.addEventListener('abort', finish, { once: true });
    function finish(): void {
      timer.cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    }
  });
}
