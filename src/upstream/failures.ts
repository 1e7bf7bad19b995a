import { HubError } from '../base/index.ts';
import type { ServerState } from '../domain/index.ts';
import { lastLines, lastStderrLine } from './children/index.ts';
import type { FailedReply } from './transport.ts';

/** For failures that need no action. */
export const unsentHint = 'Nothing was sent. The hub reconnects automatically.';

/** The ways in which a request to a server fails, each with its own code and next step. */
export function lostConnection(
  server: string,
  what: string,
  sent: boolean,
  cause?: unknown,
  reason: string = what,
): FailedReply {
  const error = sent
    ? new HubError('UPSTREAM_LOST', `The connection to server "${server}" broke: ${what}.`, {
        cause,
        hint: 'The call may have run; check before you repeat it. The hub reconnects automatically.',
        details: { server, reason },
      })
    : new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" cannot be reached: ${what}.`, {
        cause,
        hint: unsentHint,
        details: { server, reason },
      });
  return { kind: 'failed', error, cause: 'connection', sent, httpStatus: undefined };
}

/** A defect of the hub while it handled a message of the server. */
export function defective(server: string, cause: unknown): FailedReply {
  return lostConnection(server, defectReason, true, cause);
}

export const defectReason = 'the hub failed to handle a message of it; the log of the hub says where';

/** A failed handshake. The child's stderr output usually has the reason. */
export function startFailure(server: string, failure: FailedReply, stderr: string): FailedReply {
  const { code, message, hint, details, cause } = asStart(server, failure);
  const said = lastStderrLine(stderr).slice(0, maxQuoted);
  const stderrTail = lastLines(stderr);
  const error = new HubError(code, message.includes(said) ? message : `${message} Last stderr output: ${said}`, {
    cause,
    details: stderrTail === '' ? details : { ...details, stderrTail },
    ...(hint === undefined ? {} : { hint }),
  });
  return { ...failure, error };
}

function asStart(server: string, { error }: FailedReply): HubError {
  const { code, message, details, cause } = error;
  if (code === 'UPSTREAM_LOST') return lostConnection(server, String(details.reason ?? message), false, cause).error;
  if (code !== 'UPSTREAM_TIMEOUT') return error;
  return new HubError(code, message, { cause, details, hint: 'Look at its logs; it does not answer the handshake.' });
}

/** The longest quote of a server inside a sentence. */
export const maxQuoted = 300;

/** Nothing was sent, because the server is known to be unavailable or refuses requests for now. */
export function unavailable(server: string, state: ServerState, error: HubError, retryAfterMs: number): HubError {
  if (state === 'needs-login' || state === 'forbidden') return error;
  if (error.code === 'UPSTREAM_THROTTLED') {
    return new HubError(error.code, error.message, {
      cause: error,
      hint: `Nothing was sent. Try again in ${seconds(retryAfterMs)}.`,
      details: { ...error.details, retryAfterMs },
    });
  }
  const what = state === 'open-circuit' ? 'is unavailable and is not retried yet' : 'is unavailable';
  const fix = error.hint === undefined || error.hint === unsentHint ? '' : `${error.hint} `;
  const { stderrTail } = error.details;
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" ${what}: ${error.message}`, {
    cause: error,
    hint: `${fix}Nothing was sent. The next attempt is due in ${seconds(retryAfterMs)}.`,
    details: { server, retryAfterMs, state, ...(stderrTail === undefined ? {} : { stderrTail }) },
  });
}

/** Redacts the failure, because a server's answer may repeat its credential. */
export function redactedFailure(error: HubError, redact: (text: string) => string): HubError {
  const message = redact(error.message);
  if (message === error.message) return error;
  const { code, hint, details } = error;
  // Without the cause, which is not redacted.
  return new HubError(code, message, { details, ...(hint === undefined ? {} : { hint }) });
}

export function lostSession(server: string, httpStatus: number): FailedReply {
  const error = new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" has forgotten the hub's session.`, {
    hint: 'Nothing ran. The hub starts a new session automatically.',
    details: { server },
  });
  return { kind: 'failed', error, cause: 'session', sent: false, httpStatus };
}

/** The server is connected, but its lists cannot be read. */
export function unlisted(server: string, reason: string): HubError {
  return new HubError('UPSTREAM_FAILED', `Server "${server}" did not list its tools: ${reason}`, {
    hint: 'Look at the logs of the server. The hub tries again automatically.',
    details: { server },
  });
}

export function timedOut(server: string, what: string, ms: number): FailedReply {
  const error = new HubError('UPSTREAM_TIMEOUT', `Server "${server}" did not answer ${what} within ${seconds(ms)}.`, {
    hint: 'It may still be working on it. Raise limits.timeout_s for slow tools.',
    details: { server, reason: `no answer within ${seconds(ms)}` },
  });
  return { kind: 'failed', error, cause: 'gave-up', sent: true, httpStatus: undefined };
}

export function cancelled(error: HubError, sent: boolean): FailedReply {
  return { kind: 'failed', error, cause: 'gave-up', sent, httpStatus: undefined };
}

/**
 * Describes a body for messages to agents. Only well-known types are quoted: a server can put anything into the header,
 * even configured secrets.
 */
export function bodyOfType(contentType: unknown): string {
  if (typeof contentType !== 'string' || contentType === '') return 'a body of unknown type';
  const type = contentType.slice(0, 100).split(';')[0]?.trim().toLowerCase() ?? '';
  return quotedTypes.has(type) ? `a body of type ${type}` : 'a body of another type';
}

const quotedTypes: ReadonlySet<string> = new Set([
  ...['application/json', 'application/octet-stream', 'application/problem+json', 'application/xml'],
  ...['text/event-stream', 'text/html', 'text/plain', 'text/xml'],
]);

export function garbled(server: string, what: string, httpStatus?: number): FailedReply {
  const error = new HubError('UPSTREAM_GARBLED', `Server "${server}" sent something that is not MCP: ${what}.`, {
    hint: 'Check that the URL or command really is an MCP server.',
    details: { server, reason: `not MCP: ${what}` },
  });
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus };
}

/**
 * Messages in a row after which a connection is closed. Servers that print their logs to stdout stay below it: they
 * answer in between.
 */
export const maxUnreadable = 10_000;
export const tooMuchUnreadable: string = `it sent ${maxUnreadable} messages in a row that are not MCP`;

/** The hub's credentials go to the configured origin only. */
export function foreignEndpoint(server: string, origin: string): FailedReply {
  const what = `its message address is at ${origin}, another origin than its own`;
  const error = new HubError('UPSTREAM_GARBLED', `Server "${server}" was refused: ${what}.`, {
    hint: 'If the server has moved, configure its new URL.',
    details: { server, reason: what },
  });
  return { kind: 'failed', error, cause: 'answer', sent: false, httpStatus: 200 };
}

export function queueFull(server: string, bytes: number): FailedReply {
  const error = new HubError('OVERLOADED', `Server "${server}" does not read its input; ${bytes} bytes are waiting.`, {
    hint: 'Nothing was sent. Try again later.',
    details: { server },
  });
  return { kind: 'failed', error, cause: 'answer', sent: false, httpStatus: undefined };
}

/** The server does not read, and the agent has its share of the bytes that may wait for it. */
export function queueShareFull(server: string, bytes: number): FailedReply {
  const message = `Server "${server}" does not read its input, and ${bytes} bytes of this agent are waiting.`;
  const error = new HubError('OVERLOADED', message, {
    hint: 'Nothing was sent. The rest of the queue is kept for other agents. Try again later.',
    details: { server },
  });
  return { kind: 'failed', error, cause: 'answer', sent: false, httpStatus: undefined };
}

/** The call ran, but its result could not be read: too many servers sent large messages at the same time. */
export function noRoomToRead(server: string, bytes: number): FailedReply {
  const mb = Math.ceil(bytes / 1_000_000);
  const error = new HubError(
    'RESULT_TOO_LARGE',
    `The call ran, but its result of ${mb} MB from server "${server}" was dropped: other servers sent large messages meanwhile.`,
    { hint: 'Ask for less at once, or ask again later if the tool only reads.', details: { server } },
  );
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus: undefined };
}

export function tooManySubscriptions(server: string, limit: number, isFull: boolean): FailedReply {
  const message = isFull
    ? `Server "${server}" already has ${limit} subscribed resources.`
    : `This agent has its share of the ${limit} resources of server "${server}" that may be subscribed.`;
  const error = new HubError('OVERLOADED', message, {
    hint: 'Nothing was sent. Unsubscribe from some resources first.',
    details: { server },
  });
  return { kind: 'failed', error, cause: 'answer', sent: false, httpStatus: undefined };
}

/** The failure for an HTTP status. `state/retry-plan.ts` decides which of them count against the server. */
export function statusFailure(
  server: string,
  status: number,
  retryAfter: string | undefined,
  date?: string | undefined,
): FailedReply {
  return {
    kind: 'failed',
    error: statusError(server, status, retryAfterToMs(retryAfter?.trim() ?? '', date?.trim() ?? '')),
    cause: 'answer',
    sent: true,
    httpStatus: status,
  };
}

function statusError(server: string, status: number, retryAfterMs: number | undefined): HubError {
  if (status === 401) {
    return new HubError('UPSTREAM_NEEDS_LOGIN', `Server "${server}" requires a login (401).`, {
      hint: "Set its token in the server's headers and reload.",
      details: { server, httpStatus: status },
    });
  }
  if (status === 403 || status === 451) {
    return new HubError('UPSTREAM_FORBIDDEN', `Server "${server}" refuses this credential (${status}).`, {
      hint: 'Check the scopes or the licence of the credential.',
      details: { server, httpStatus: status },
    });
  }
  if (status === 429) {
    return new HubError('UPSTREAM_THROTTLED', `Server "${server}" is throttling (429).`, {
      hint: retryAfterMs === undefined ? 'Slow down.' : `Try again in ${seconds(retryAfterMs)}.`,
      details: { server, httpStatus: status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    });
  }
  const redirect = status >= 300 && status < 400;
  return new HubError('UPSTREAM_FAILED', `Server "${server}" answered with HTTP ${status}.`, {
    hint: redirect ? 'Redirects are not followed: configure the final URL.' : 'Look at the logs of the server.',
    details: { server, httpStatus: status },
  });
}

const dayMs = 86_400_000;

/** Seconds, or a date. A date is relative to the answer's own date, because the server's clock may differ. */
function retryAfterToMs(retryAfter: string, date: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(retryAfter)) return Math.min(Number(retryAfter) * 1000, dayMs);
  const ms = httpDate(retryAfter) - httpDate(date);
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), dayMs);
}

/** Accepts only the HTTP date format, because the parser accepts nearly anything. */
function httpDate(text: string): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : Number.NaN;
}

export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}
