import { HubError } from '../base/index.ts';

export const lastRetryMs = 2000;

export function recordNotWritten(path: string, reason: string, cause: unknown): HubError {
  return new HubError('LEDGER_UNAVAILABLE', `The call was not sent: recording it in ${path} failed (${reason}).`, {
    hint: `${wayOut(cause)} The hub tries again by itself.`,
    cause,
    details: { retryAfterMs: lastRetryMs },
  });
}

export function ledgerClosed(): HubError {
  return new HubError('LEDGER_UNAVAILABLE', 'The call was not sent: the ledger is closed.', {
    hint: 'The hub is stopping; call again when it is back.',
  });
}

/** What is in the way knows best what to do about it. */
export function wayOut(error: unknown): string {
  return (error instanceof HubError ? error.hint : undefined) ?? 'Free disk space or repair the folder.';
}

/** For the middle of a sentence. */
export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
