import type { HubError } from '../../base/index.ts';
import type { ServerState } from '../../domain/index.ts';
import { afterFailure, type BreakerState } from './breaker.ts';

/** The wait after a failure, and the state meanwhile. */
export interface RetryPlan {
  readonly word: ServerState;
  readonly waitMs: number;
  /** A timer tries again. A refusal is tried again by the next caller that needs the server. */
  readonly isTimed: boolean;
  readonly breaker: BreakerState;
}

/** How long to wait after 401 and 403. */
const refusalMs = 10_000;
/** A server that says "try again in 0 s" is still throttling. */
const minThrottledMs = 1000;

/** A server that answers with a refusal is not broken, so the breaker does not count it. */
export function planAfterFailedConnect(error: HubError, breaker: BreakerState, random: number): RetryPlan {
  switch (error.code) {
    case 'UPSTREAM_NEEDS_LOGIN':
      return { word: 'needs-login', waitMs: refusalMs, isTimed: false, breaker };
    case 'UPSTREAM_FORBIDDEN':
      return { word: 'forbidden', waitMs: refusalMs, isTimed: false, breaker };
    case 'UPSTREAM_THROTTLED': {
      const { retryAfterMs = refusalMs } = error.details;
      return { word: 'retrying', waitMs: Math.max(retryAfterMs, minThrottledMs), isTimed: true, breaker };
    }
    default:
      return planAfterCountedFailure(breaker, random);
  }
}

export function planAfterCountedFailure(breaker: BreakerState, random: number): RetryPlan {
  const { state, waitMs } = afterFailure(breaker, random);
  return { word: state.kind === 'open' ? 'open-circuit' : 'retrying', waitMs, isTimed: true, breaker: state };
}
