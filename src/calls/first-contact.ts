import { type Clock, sleep } from '../base/index.ts';
import type { UpstreamControl } from '../upstream/index.ts';
import { isStarting } from './missing-servers.ts';

/** Waiting for servers whose tools nobody knows yet. */
export interface FirstContact {
  /** Asks each of them and waits for nothing. */
  begin(undiscovered: readonly UpstreamControl[]): void;
  /** Asks each of them; waits until those that never answered before have answered, failed, or are out of time. */
  wait(undiscovered: readonly UpstreamControl[], waitMs?: number): Promise<void>;
  /** For a call: waits within the timeout of the server's calls. */
  waitForOne(control: UpstreamControl): Promise<void>;
}

/**
 * How long lists wait for a server, counted from the first time that it was asked. Measured: Claude Code, OpenCode,
 * Copilot and Gemini wait longer than this for their list and then use what is in it.
 */
export const firstListMs = 25_000;

export function createFirstContact({ clock }: { readonly clock: Clock }): FirstContact {
  const askedAt = new WeakMap<UpstreamControl, number>();
  const waiting = new WeakMap<UpstreamControl, number>();

  /** Resolves when the server has answered or failed. */
  function ask(control: UpstreamControl, whoWaits: 'list' | 'call'): Promise<void> {
    if (!askedAt.has(control)) askedAt.set(control, clock.monotonic());
    return control.refresh(whoWaits);
  }

  async function within(answered: Promise<void>, ms: number): Promise<void> {
    const enough = new AbortController();
    await Promise.race([answered, sleep(clock, ms, enough.signal)]);
    enough.abort();
  }

  return {
    begin(undiscovered) {
      for (const control of undiscovered) void ask(control, 'list');
    },
    async wait(undiscovered, waitMs = firstListMs) {
      const now = clock.monotonic();
      const waits = undiscovered.map((control) => {
        // Read first: asking may fail at once, and may end the wait for one that has failed before.
        const starting = isStarting(control);
        const answered = ask(control, 'list');
        const leftMs = Math.min(waitMs, (askedAt.get(control) ?? now) + firstListMs - now);
        return starting && leftMs > 0 ? within(answered, leftMs) : undefined;
      });
      await Promise.all(waits);
    },
    async waitForOne(control) {
      const { concurrency, timeoutMs } = control.spec.limits;
      const others = waiting.get(control) ?? 0;
      // As many as may be under way later on; the rest is told at once to come again.
      if (others >= concurrency) return;
      waiting.set(control, others + 1);
      try {
        await within(ask(control, 'call'), timeoutMs);
      } finally {
        waiting.set(control, (waiting.get(control) ?? 1) - 1);
      }
    },
  };
}
