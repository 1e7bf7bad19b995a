import type { Clock } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';

export interface FetchDeadlines {
  /** For everything, from the first lookup to the last character. */
  readonly timeoutMs: number;
  /** The caller's own signal. */
  readonly signal: AbortSignal;
}

/** Runs with a signal that aborts on timeout or when the caller cancels. Its reason explains which, for the model. */
export async function inTime<T>(
  clock: Clock,
  { timeoutMs, signal }: FetchDeadlines,
  what: string,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const leave = (): void => stop.abort(new ToolFault(`The fetch of ${what} was cancelled.`));
  const timer = clock.setTimer(timeoutMs, () =>
    stop.abort(new ToolFault(`${what} cannot be fetched: it took longer than ${timeoutMs / 1000} s (--timeout).`)),
  );
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await run(stop.signal);
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', leave);
  }
}
