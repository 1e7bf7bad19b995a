import { type Clock, createSystemClock, HubError, sleep } from '../../base/index.ts';
import { McpRateLimitError } from './thrown-errors.ts';

export interface BackoffOptions {
  /** The number of attempts in total. Default: 3. */
  readonly tries?: number;
  /** Called before each wait. */
  readonly onEvent?: (event: BackoffEvent) => void;
  /** Ends a wait. Pass the same signal to the work itself. */
  readonly signal?: AbortSignal;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** A record for the program's own log. */
export interface BackoffEvent {
  readonly event: 'mcp_rate_limit';
  readonly server: string;
  /** The number of the failed attempt, from 1. */
  readonly retry_attempt: number;
  /** In seconds. */
  readonly wait_time: number;
}

/**
 * Retries when a server is at its rate limit: after 1, 2, 4 … seconds, or later if the server asks for a longer wait.
 * Throws every other error, and the last one, unchanged.
 */
export async function withBackoff<T>(work: () => Promise<T>, options: BackoffOptions = {}): Promise<T> {
  const { tries = 3, onEvent, signal, clock = createSystemClock() } = options;
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof McpRateLimitError) || attempt + 1 >= tries) throw error;
      const waitMs = Math.max(2 ** attempt * 1000, error.retryAfterMs ?? 0);
      const { server } = error;
      onEvent?.({ event: 'mcp_rate_limit', server, retry_attempt: attempt + 1, wait_time: waitMs / 1000 });
      // Much work may wait on one signal; a derived one has its own listeners.
      await sleep(clock, waitMs, signal && AbortSignal.any([signal]));
      if (signal?.aborted) {
        throw new HubError('CANCELLED', `Stopped while waiting to try server "${server}" again.`, {
          cause: error,
          details: { server },
        });
      }
    }
  }
}
