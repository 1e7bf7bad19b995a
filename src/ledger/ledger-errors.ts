import { errnoOf, HubError } from '../base/index.ts';

export const lastRetryMs = 2000;

/** Agents read this error, so it contains no path of this machine. The log and the operator's API do. */
export function recordNotWritten(cause: unknown): HubError {
  return new HubError('LEDGER_UNAVAILABLE', `The call was not sent: recording it failed (${reasonForAgents(cause)}).`, {
    hint: `${withoutPath(wayOut(cause)) ?? 'An operator finds the way out in the log of the hub.'} The hub tries again automatically.`,
    cause,
    details: { retryAfterMs: lastRetryMs },
  });
}

export function ledgerClosed(): HubError {
  return new HubError('LEDGER_UNAVAILABLE', 'The call was not sent: the audit log is closed.', {
    hint: 'The hub is stopping; call again when it is back.',
  });
}

/** The hint of the underlying error, if it has one. */
export function wayOut(error: unknown): string {
  return (error instanceof HubError ? error.hint : undefined) ?? 'Free disk space or repair the folder.';
}

/** Without a final period, for the middle of a sentence. */
export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

function reasonForAgents(error: unknown): string {
  const reason = reasonOf(error);
  const { path } = error instanceof HubError ? error.details : {};
  if (typeof path === 'string' && reason.startsWith(path)) {
    return withoutPath(`a place of the journal${reason.slice(path.length)}`) ?? unnamed;
  }
  // Node appends the paths of a failed system call in quotes: `EACCES: permission denied, open '/…'`.
  const isSystemCall = errnoOf(error) !== undefined && !(error instanceof HubError);
  return withoutPath(isSystemCall ? (reason.split(" '")[0] ?? '') : reason) ?? unnamed;
}

/** Undefined if the text may contain an absolute path. Paths can contain white space, so they cannot be cut out. */
function withoutPath(text: string): string | undefined {
  return /(?<!\w)[/\\]/.test(text) ? undefined : text;
}

const unnamed = 'the log of the hub says why';
