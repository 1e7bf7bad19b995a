import { type Clock, HubError } from '../../base/index.ts';

export interface WaitOptions {
  /** Cancels the call, upstream too. */
  readonly signal?: AbortSignal;
  /** In milliseconds; what has no answer by then is cancelled. */
  readonly deadlineMs?: number;
}

/** Does the work under a signal that aborts with that of the program, or when the time is over. */
export async function withDeadline<T>(
  clock: Clock,
  { signal, deadlineMs }: WaitOptions,
  work: (until: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (deadlineMs === undefined) return work(signal);
  const late = new AbortController();
  const timer = clock.setTimer(checked(deadlineMs), () => late.abort(missed(deadlineMs)));
  try {
    return await work(signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]));
  } finally {
    timer.cancel();
  }
}

function missed(deadlineMs: number): HubError {
  return new HubError('UPSTREAM_TIMEOUT', `The deadline of ${deadlineMs} ms passed before the answer came.`, {
    hint: 'The call was cancelled; one that was sent may have run.',
  });
}

function checked(deadlineMs: number): number {
  // The longest that a timer can count.
  if (deadlineMs > 0 && deadlineMs < 2 ** 31) return deadlineMs;
  throw new HubError('USAGE', `${deadlineMs} cannot be a deadline.`, {
    hint: 'Give milliseconds, more than none and less than 24 days.',
  });
}
