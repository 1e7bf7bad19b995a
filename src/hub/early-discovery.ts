import type { Clock, Timer } from '../base/index.ts';
import type { UpstreamHandles } from '../upstream/index.ts';

/** Asks servers that were never discovered before a client does, so that the first list is not empty. */
export interface EarlyDiscovery {
  /** After the start and after each change of the configuration. */
  begin(upstreams: ReadonlyMap<string, UpstreamHandles>): void;
  close(): void;
}

/** How long a server that was started only to be asked stays up for the first call. */
const lingerMs = 5 * 60_000;
/** With more of them than this none stays up: each may be a process of its own. */
const mostLingering = 20;

export function createEarlyDiscovery({ clock }: { readonly clock: Clock }): EarlyDiscovery {
  const timers = new Set<Timer>();
  let closed = false;

  async function discover({ control }: UpstreamHandles, stayMs: number): Promise<void> {
    // Not before the hub that hears of it is put together.
    await Promise.resolve();
    if (closed) return;
    await control.refresh('background');
    if (closed) return;
    const timer = clock.setTimer(stayMs, () => {
      timers.delete(timer);
      control.letGoUnused();
    });
    timers.add(timer);
  }

  return {
    begin(upstreams) {
      const undiscovered = [...upstreams.values()].filter(({ control }) => control.lastCatalog === undefined);
      const stayMs = undiscovered.length > mostLingering ? 0 : lingerMs;
      for (const handles of undiscovered) void discover(handles, stayMs);
    },
    close() {
      closed = true;
      for (const timer of timers) timer.cancel();
    },
  };
}
