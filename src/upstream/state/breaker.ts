/**
 * Counts failed connects in a row. Two are met with a short, jittered wait; the third opens the circuit, after which one
 * trial is made at a time. `retry-plan.ts` decides what counts; who waits, and on which clock, is not its business.
 */
export type BreakerState =
  | { readonly kind: 'closed'; readonly failures: number }
  | { readonly kind: 'open'; readonly failures: number };

export const initialBreaker: BreakerState = { kind: 'closed', failures: 0 };

export interface BreakerStep {
  readonly state: BreakerState;
  readonly waitMs: number;
}

/** `random` is in [0, 1). */
export function afterFailure(state: BreakerState, random: number): BreakerStep {
  const failures = state.failures + 1;
  if (failures >= failuresToOpen) return { state: { kind: 'open', failures }, waitMs: openMs };
  const base = backoffMs[failures - 1] as number; // one entry per failure before the last
  return { state: { kind: 'closed', failures }, waitMs: Math.round(base * (0.8 + 0.4 * random)) };
}

const failuresToOpen = 3;
const openMs = 60_000;
/** Short enough that a restarted server is found within a second, unless it was unavailable for longer than both. */
const backoffMs: readonly number[] = [250, 750];
