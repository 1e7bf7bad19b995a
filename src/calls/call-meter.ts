import type { Outcome } from '../domain/index.ts';
import type { Target } from './target.ts';

/** Counts the ends of calls, each once. It is on the path of every call: it must neither wait nor throw. */
export interface CallMeter {
  /** A call that was sent. */
  ended(target: Target, outcome: Outcome, durationMs: number): void;
  /** A call that went well without its server: it was answered by what was kept. */
  cached(target: Target): void;
  /** A call that was never sent; without an entry, the agent has no tool of that name. */
  refused(target: Target | undefined, outcome: Outcome): void;
}
