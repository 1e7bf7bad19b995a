import type { Clock } from '../../base/index.ts';

/** Changes often come in groups. */
const groupMs = 50;

/** The longest wait, for a server that keeps changing. */
const slowestMs = 5_000;

/** After a quiet time of this length, and of several waits, the wait is short again. */
const quietMs = 1_000;
const quietWaits = 4;

/** The wait after an announced change. It doubles for a server that keeps changing. */
export function createRelistPace({ clock }: { readonly clock: Clock }): () => number {
  let waitMs = 0;
  let dueAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    // A read is due anyway.
    if (now < dueAt) return dueAt - now;
    const isQuiet = now - dueAt >= Math.max(quietMs, quietWaits * waitMs);
    waitMs = isQuiet ? groupMs : Math.min(slowestMs, 2 * waitMs);
    dueAt = now + waitMs;
    return waitMs;
  };
}
