import { dirname } from 'node:path';
import { HubError } from '../base/index.ts';

export const lastRetryMs = 2000;

/** Agents read it, so it names no place of this machine; the log does. `file` is the journal's. */
export function recordNotWritten(file: string, reason: string, cause: unknown): HubError {
  const workspace = dirname(dirname(dirname(file)));
  const told = (text: string): string =>
    text
      .replaceAll(`${workspace}/`, '')
      .replaceAll(workspace, 'the workspace')
      .replaceAll(/'\/[^']*'/g, 'a file');
  return new HubError('LEDGER_UNAVAILABLE', `The call was not sent: recording it failed (${told(reason)}).`, {
    hint: `${told(wayOut(cause))} The hub tries again by itself.`,
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
