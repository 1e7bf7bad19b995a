import type { Clock } from '../../base/index.ts';

/** Calls that wait for a decision, by approval. */
export class WaitingCalls {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #byAgent = new Map<string, number>();
  #count = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#count;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  of(agent: string): number {
    return this.#byAgent.get(agent) ?? 0;
  }

  /** Resolves when the approval changes, the time is over, or the signal aborts. Never rejects. */
  wait(approval: string, agent: string, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#closed || signal.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const wakers = this.#waiting.get(approval) ?? new Set();
      this.#waiting.set(approval, wakers);
      const wake = (): void => {
        if (!wakers.delete(wake)) return;
        timer.cancel();
        signal.removeEventListener('abort', wake);
        if (wakers.size === 0) this.#waiting.delete(approval);
        this.#counted(agent, -1);
        resolve();
      };
      const timer = this.#clock.setTimer(Math.min(ms, longestTimerMs), wake);
      signal.addEventListener('abort', wake, { once: true });
      wakers.add(wake);
      this.#counted(agent, 1);
    });
  }

  wake(approval: string): void {
    for (const wake of [...(this.#waiting.get(approval) ?? [])]) wake();
  }

  close(): void {
    this.#closed = true;
    for (const approval of [...this.#waiting.keys()]) this.wake(approval);
  }

  #counted(agent: string, by: 1 | -1): void {
    this.#count += by;
    const own = this.of(agent) + by;
    if (own === 0) this.#byAgent.delete(agent);
    else this.#byAgent.set(agent, own);
  }
}

/** Node's timers take no more. */
const longestTimerMs = 2 ** 31 - 1;
