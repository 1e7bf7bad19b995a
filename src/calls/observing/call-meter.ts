import type { Outcome } from '../../domain/index.ts';
import type { Target } from '../target.ts';

/** Counts each finished call once. It is on the path of every call, so it must neither wait nor throw. */
export interface CallMeter {
  /** A call that was sent. */
  ended(target: Target, outcome: Outcome, durationMs: number): void;
  /** A call that was answered from the cache. */
  cached(target: Target): void;
  /** A call that was never sent. Without an entry, the agent has no tool of that name. */
  refused(target: Target | undefined, outcome: Outcome): void;
}
