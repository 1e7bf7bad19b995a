import { type Clock, createSystemClock, HubError, sleep } from '../../base/index.ts';
import { McpRateLimitError } from './thrown-errors.ts';

export interface BackoffOptions {
  /** How often the work is tried in all. Default 3. */
  readonly tries?: number;
  /** Told before each wait. */
  readonly onEvent?: (event: BackoffEvent) => void;
  /** Ends a wait; the work itself has to be given the same signal. */
  readonly signal?: AbortSignal;
  /** The system's unless given. */
  readonly clock?: Clock;
}

/** A line for the program's own log. */
export interface BackoffEvent {
  readonly event: 'mcp_rate_limit';
  readonly server: string;
  /** The number of the try that failed, from 1. */
  readonly retry_attempt: number;
  /** In seconds. */
  readonly wait_time: number;
}

/**
 * Tries again when a server is at its rate limit: after 1, 2, 4 … seconds, or after as long as the
 * server wants. Every other error, and the last one, is thrown as it was.
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
      await sleep(clock, waitMs, signal);
      if (signal?.aborted) {
        throw new HubError('CANCELLED', `Stopped while waiting to try server "${server}" again.`, {
          cause: error,
          details: { server },
        });
      }
    }
  }
}
