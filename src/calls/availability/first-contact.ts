import { type Clock, settlesWithin } from '../../base/index.ts';
import type { UpstreamControl } from '../../upstream/index.ts';
import { isStarting } from './missing-servers.ts';

/** Waits for servers whose tools are not known yet. */
export interface FirstContact {
  /** Asks each of them, without waiting. */
  begin(undiscovered: readonly UpstreamControl[]): void;
  /** Asks each of them. Waits until all that are still starting have answered, failed or run out of time. */
  wait(undiscovered: readonly UpstreamControl[], waitMs?: number): Promise<void>;
  /**
   * For a call of that many characters: waits for the server that it names, at most as long as a call to it may take,
   * or for all servers that may have the tool. Returns at once if too many calls wait already.
   */
  waitForCall(undiscovered: readonly UpstreamControl[], owner: UpstreamControl | 'any', size: number): Promise<void>;
}

/**
 * How long lists wait for a server, counted from the first time that it was asked. Measured: Claude Code, OpenCode,
 * Copilot and Gemini wait longer than this for their list and then use what is in it.
 */
export const firstListMs = 25_000;

/** Bounds the calls that wait for servers to start, because they hold their arguments meanwhile. */
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

  async function wait(undiscovered: readonly UpstreamControl[], waitMs = firstListMs): Promise<void> {
    const now = clock.monotonic();
    const waits = undiscovered.map((control) => {
      // Read this first: asking may fail at once, and may start over with a server that failed before.
      const starting = isStarting(control);
      const answered = ask(control, 'list');
      const leftMs = Math.min(waitMs, (askedAt.get(control) ?? now) + firstListMs - now);
      return starting && leftMs > 0 ? settlesWithin(clock, leftMs, answered) : undefined;
    });
    await Promise.all(waits);
  }

  async function waitForOne(control: UpstreamControl): Promise<void> {
    const { concurrency, timeoutMs } = control.spec.limits;
    const others = waiting.get(control) ?? 0;
    // As many may wait as may be in flight later. The others are told at once to try again.
    if (others >= concurrency) return;
    waiting.set(control, others + 1);
    try {
      await settlesWithin(clock, timeoutMs, ask(control, 'call'));
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
