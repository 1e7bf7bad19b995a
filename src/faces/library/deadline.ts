import { type Clock, HubError } from '../../base/index.ts';
import type { SharedSignals } from './shared-signals.ts';

export interface WaitOptions {
  /** Cancels the call, upstream too. */
  readonly signal?: AbortSignal;
  /** In milliseconds. A call without a result by then is cancelled. */
  readonly deadlineMs?: number;
}

export interface DeadlineDeps {
  readonly clock: Clock;
  readonly signals: SharedSignals;
}

/** Runs `work` with a signal that aborts when the program's signal does or when the deadline passes. */
export async function withDeadline<T>(
  { clock, signals }: DeadlineDeps,
  { signal, deadlineMs }: WaitOptions,
  work: (until: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (deadlineMs === undefined) return work(signal);
  const late = new AbortController();
  const timer = clock.setTimer(checked(deadlineMs), () => late.abort(missed(deadlineMs)));
  const forget = signal && signals.onAbort(signal, () => late.abort(signal.reason));
  try {
    return await work(late.signal);
  } finally {
    timer.cancel();
    forget?.();
  }
}

function missed(deadlineMs: number): HubError {
  return new HubError('UPSTREAM_TIMEOUT', `The deadline of ${deadlineMs} ms passed before the answer came.`, {
    hint: 'The call was cancelled; one that was sent may have run.',
  });
}

function checked(deadlineMs: number): number {
  // The longest delay a Node.js timer supports.
  if (deadlineMs > 0 && deadlineMs < 2 ** 31) return deadlineMs;
  throw new HubError('USAGE', `${deadlineMs} cannot be a deadline.`, {
    hint: 'Give milliseconds, more than none and less than 24 days.',
  });
}
