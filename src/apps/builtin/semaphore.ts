/** Limits concurrency; the rest wait in order. */
export interface Semaphore {
  /** Resolves with a function that ends the turn; rejects with the signal's reason if it aborts first. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createSemaphore(places: number): Semaphore {
  const waiting: (() => void)[] = [];
  let free = places;
  const end = (): void => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  };
  return {
    async take(signal) {
      signal.throwIfAborted();
      if (free > 0) free--;
      else await waitForEnd(waiting, signal);
      return end;
    },
  };
}

function waitForEnd(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (): void => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    const giveUp = (): void => {
      waiting.splice(waiting.indexOf(next), 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.push(next);
  });
}
