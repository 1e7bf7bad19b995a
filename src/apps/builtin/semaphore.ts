/** Limits concurrency; the rest wait. */
export interface Semaphore {
  /** Resolves with a function that ends the turn; rejects with the signal's reason if it aborts first. */
  take(signal: AbortSignal): Promise<() => void>;
}

/**
 * Shares the turns between agents: an agent has no more of them than are left free, so that another one need not wait
 * for its calls to end, and agents that wait are served in rotation. Without an agent, nothing is shared.
 */
export interface SharedSemaphore {
  of(agent: string | undefined): Semaphore;
}

interface Share {
  readonly agent: string | undefined;
  held: number;
  /** The number of the last turn that was given to it. */
  last: number;
  readonly waiting: (() => void)[];
}

export function createSemaphore(places: number): SharedSemaphore {
  /** Of agents that hold a turn or wait for one. */
  const shares = new Map<string | undefined, Share>();
  let free = places;
  let given = 0;

  function shareOf(agent: string | undefined): Share {
    const share = shares.get(agent) ?? { agent, held: 0, last: 0, waiting: [] };
    shares.set(agent, share);
    return share;
  }

  function mayTake({ agent, held }: Share): boolean {
    return free > 0 && (agent === undefined || held < free);
  }

  function give(share: Share): void {
    free--;
    share.held++;
    share.last = ++given;
  }

  function end(share: Share): void {
    free++;
    share.held--;
    for (let next = nextOf(shares.values(), mayTake); next !== undefined; next = nextOf(shares.values(), mayTake)) {
      give(next);
      next.waiting.shift()?.();
    }
    forget(share);
  }

  function forget(share: Share): void {
    if (share.held === 0 && share.waiting.length === 0) shares.delete(share.agent);
  }

  async function take(agent: string | undefined, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const share = shareOf(agent);
    if (share.waiting.length === 0 && mayTake(share)) give(share);
    else await waitForTurn(share.waiting, signal).finally(() => forget(share));
    return () => end(share);
  }

  return { of: (agent) => ({ take: (signal) => take(agent, signal) }) };
}

/** The one with the fewest turns. Of several, the one that has waited longest since its last. */
function nextOf(shares: Iterable<Share>, mayTake: (share: Share) => boolean): Share | undefined {
  let next: Share | undefined;
  for (const share of shares) {
    if (share.waiting.length === 0 || !mayTake(share)) continue;
    if (next === undefined || share.held < next.held || (share.held === next.held && share.last < next.last)) {
      next = share;
    }
  }
  return next;
}

function waitForTurn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
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
