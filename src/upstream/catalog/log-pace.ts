import type { Clock } from '../../base/index.ts';

/** An event is logged at most once in this time. */
const logAgainMs = 60_000;

/**
 * For an event that anybody can cause as often as they like. The fields to add to its line, with the number of events
 * since the last line; undefined if it is too early for another line.
 */
export function createLogPace({ clock }: { readonly clock: Clock }): () => { readonly count?: number } | undefined {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  return () => {
    count++;
    const now = clock.monotonic();
    if (now - loggedAt < logAgainMs) return undefined;
    const fields = count > 1 ? { count } : {};
    loggedAt = now;
    count = 0;
    return fields;
  };
}
