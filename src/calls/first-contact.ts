import { type Clock, sleep } from '../base/index.ts';
import type { UpstreamControl } from '../upstream/index.ts';
import { isStarting } from './missing-servers.ts';

/** Waiting for servers whose tools nobody knows yet. */
export interface FirstContact {
  /** Asks each of them and waits for nothing. */
  begin(undiscovered: readonly UpstreamControl[]): void;
  /** Asks each of them; waits until those that never answered before have answered, failed, or are out of time. */
  wait(undiscovered: readonly UpstreamControl[], waitMs?: number): Promise<void>;
  /**
   * For a call of that many characters: waits for the server that it names within the timeout of its calls, or for any
   * of those that may have what it asks for. Returns at once where too much waits already.
   */
  waitForCall(undiscovered: readonly UpstreamControl[], owner: UpstreamControl | 'any', size: number): Promise<void>;
}

/**
 * How long lists wait for a server, counted from the first time that it was asked. Measured: Claude Code, OpenCode,
 * Copilot and Gemini wait longer than this for their list and then use what is in it.
 */
export const firstListMs = 25_000;

/** Of all calls that wait for servers to start, which hold their arguments meanwhile. */
const mostCalls = 1024;
const mostCharacters = 32 * 1024 * 1024;

export function createFirstContact({ clock }: { readonly clock: Clock }): FirstContact {
  const askedAt = new WeakMap<UpstreamControl, number>();
  const waiting = new WeakMap<UpstreamControl, number>();
  let calls = 0;
  let characters = 0;

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

  async function wait(undiscovered: readonly UpstreamControl[], waitMs = firstListMs): Promise<void> {
    const now = clock.monotonic();
    const waits = undiscovered.map((control) => {
      // Read first: asking may fail at once, and may end the wait for one that has failed before.
      const starting = isStarting(control);
      const answered = ask(control, 'list');
      const leftMs = Math.min(waitMs, (askedAt.get(control) ?? now) + firstListMs - now);
      return starting && leftMs > 0 ? within(answered, leftMs) : undefined;
    });
    await Promise.all(waits);
  }

  async function waitForOne(control: UpstreamControl): Promise<void> {
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
  }

  return {
    begin(undiscovered) {
      for (const control of undiscovered) void ask(control, 'list');
    },
    wait,
    async waitForCall(undiscovered, owner, size) {
      if (calls >= mostCalls || characters + size > mostCharacters) return;
      calls++;
      characters += size;
      try {
        await (owner === 'any' ? wait(undiscovered) : waitForOne(owner));
      } finally {
        calls--;
        characters -= size;
      }
    },
  };
}
