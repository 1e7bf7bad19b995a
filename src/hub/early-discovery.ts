import type { Clock, Timer } from '../base/index.ts';
import type { UpstreamHandles } from '../upstream/index.ts';

/** Discovers servers before a client asks, so that the first list is not empty. */
export interface EarlyDiscovery {
  /** After the start and after each change of the configuration. */
  begin(upstreams: ReadonlyMap<string, UpstreamHandles>): void;
  close(): void;
}

/** How long a server that was started only for discovery keeps running for a first call. */
const lingerMs = 5 * 60_000;
/** With more servers than this, none keeps running, because each may be a process. */
const mostLingering = 20;

export function createEarlyDiscovery({ clock }: { readonly clock: Clock }): EarlyDiscovery {
  const timers = new Set<Timer>();
  let closed = false;

  async function discover({ control }: UpstreamHandles, stayMs: number): Promise<void> {
    // Wait until the hub is complete.
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
