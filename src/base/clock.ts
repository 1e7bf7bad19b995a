/** Time as a dependency, so that tests can control it. */
export interface Clock {
  /** Wall clock, whole milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that never jumps. Use it for durations. */
  monotonic(): number;
  setTimer(ms: number, run: () => void): Timer;
}

export interface Timer {
  cancel(): void;
  /** Lets the process exit while the timer is running. */
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

/** A class instead of a closure, because every call in flight has one. */
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

/** Resolves after `ms`, or at once when the signal aborts. The caller checks the signal. */
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

/** Waits for the work, but no longer than `ms`. Returns whether it settled in time; a failure counts as settled. */
export async function settlesWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settled = new AbortController();
  const settle = (): void => {
    isSettled = true;
    settled.abort();
  };
  work.then(settle, settle);
  await sleep(clock, ms, settled.signal);
  return isSettled;
}
