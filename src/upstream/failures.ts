import { HubError } from '../base/index.ts';
import type { ServerState } from '../domain/index.ts';
import { lastLines, lastWords } from './children/index.ts';
import type { WireFailure } from './wire.ts';

/** Where nobody has to do anything. */
export const unsentHint = 'Nothing was sent. The hub reconnects by itself.';

/** The ways in which a request to a server fails, each with its own code and next step. */
export function lostConnection(
  server: string,
  what: string,
  sent: boolean,
  cause?: unknown,
  reason: string = what,
): WireFailure {
  const error = sent
    ? new HubError('UPSTREAM_LOST', `The connection to server "${server}" broke: ${what}.`, {
        cause,
        hint: 'The call may have run; check before you repeat it. The hub reconnects by itself.',
        details: { server, reason },
      })
    : new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" cannot be reached: ${what}.`, {
        cause,
        hint: unsentHint,
        details: { server, reason },
      });
  return { kind: 'failed', error, cause: 'connection', sent, httpStatus: undefined };
}

/** Handling what the server sent failed for a reason that lies in the hub. */
export function defective(server: string, cause: unknown): WireFailure {
  return lostConnection(server, defectReason, true, cause);
}

export const defectReason = 'the hub failed to handle a message of it; the log of the hub says where';

/** A handshake that failed was nobody's call; what a child wrote to stderr is usually the reason. */
export function startFailure(server: string, failure: WireFailure, stderr: string): WireFailure {
  const { code, message, hint, details, cause } = asStart(server, failure);
  const said = lastWords(stderr).slice(0, maxQuoted);
  const stderrTail = lastLines(stderr);
  const error = new HubError(code, message.includes(said) ? message : `${message} Its last words: ${said}`, {
    cause,
    details: stderrTail === '' ? details : { ...details, stderrTail },
    ...(hint === undefined ? {} : { hint }),
  });
  return { ...failure, error };
}

function asStart(server: string, { error }: WireFailure): HubError {
  const { code, message, details, cause } = error;
  if (code === 'UPSTREAM_LOST') return lostConnection(server, String(details.reason ?? message), false, cause).error;
  if (code !== 'UPSTREAM_TIMEOUT') return error;
  return new HubError(code, message, { cause, details, hint: 'Look at its logs; it says nothing to the handshake.' });
}

/** Of somebody else's words inside a sentence. */
export const maxQuoted = 300;

/** Nobody was asked: the server is known to be away, or refuses for now. */
export function away(server: string, state: ServerState, error: HubError, retryAfterMs: number): HubError {
  if (state === 'needs-login' || state === 'forbidden') return error;
  if (error.code === 'UPSTREAM_THROTTLED') {
    return new HubError(error.code, error.message, {
      cause: error,
      hint: `Nothing was sent. Try again in ${seconds(retryAfterMs)}.`,
      details: { ...error.details, retryAfterMs },
    });
  }
  const what = state === 'open-circuit' ? 'is away and left alone for now' : 'is away';
  const fix = error.hint === undefined || error.hint === unsentHint ? '' : `${error.hint} `;
  const { stderrTail } = error.details;
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" ${what}: ${error.message}`, {
    cause: error,
    hint: `${fix}Nothing was sent. The next attempt is due in ${seconds(retryAfterMs)}.`,
    details: { server, retryAfterMs, state, ...(stderrTail === undefined ? {} : { stderrTail }) },
  });
}

/** What a server answered may repeat the credential that it was given. */
export function redacted(error: HubError, redact: (text: string) => string): HubError {
  const message = redact(error.message);
  if (message === error.message) return error;
  const { code, hint, details } = error;
  // Without its cause, which says the same unredacted.
  return new HubError(code, message, { details, ...(hint === undefined ? {} : { hint }) });
}

export function lostSession(server: string, httpStatus: number): WireFailure {
  const error = new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" has forgotten the hub's session.`, {
    hint: 'Nothing ran. The hub starts a new session by itself.',
    details: { server },
  });
  return { kind: 'failed', error, cause: 'session', sent: false, httpStatus };
}

/** Connected, but of no use to agents: what it offers stays unknown. */
export function unlisted(server: string, reason: string): HubError {
  return new HubError('UPSTREAM_FAILED', `Server "${server}" did not list its tools: ${reason}`, {
    hint: 'Look at the logs of the server. The hub asks again by itself.',
    details: { server },
  });
}

export function timedOut(server: string, what: string, ms: number): WireFailure {
  const error = new HubError('UPSTREAM_TIMEOUT', `Server "${server}" did not answer ${what} within ${seconds(ms)}.`, {
    hint: 'It may still be working on it. Raise limits.timeout_s for slow tools.',
    details: { server, reason: `no answer within ${seconds(ms)}` },
  });
  return { kind: 'failed', error, cause: 'gave-up', sent: true, httpStatus: undefined };
}

export function cancelled(error: HubError, sent: boolean): WireFailure {
  return { kind: 'failed', error, cause: 'gave-up', sent, httpStatus: undefined };
}

export function garbled(server: string, what: string, httpStatus?: number): WireFailure {
  const error = new HubError('UPSTREAM_GARBLED', `Server "${server}" answered something that is not MCP: ${what}.`, {
    hint: 'Check that the URL or command really is an MCP server.',
    details: { server, reason: `not MCP: ${what}` },
  });
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus };
}

/** The hub's credentials go to the configured origin only. */
export function foreignEndpoint(server: string, origin: string): WireFailure {
  const what = `it wants messages sent to ${origin}, another origin than its own`;
  const error = new HubError('UPSTREAM_GARBLED', `Server "${server}" was refused: ${what}.`, {
    hint: 'If the server has moved, configure its new URL.',
    details: { server, reason: what },
  });
  return { kind: 'failed', error, cause: 'answer', sent: false, httpStatus: 200 };
}

export function queueFull(server: string, bytes: number): WireFailure {
  const error = new HubError('OVERLOADED', `Server "${server}" takes no input; ${bytes} bytes already wait for it.`, {
    hint: 'Nothing was sent. Try again later.',
    details: { server },
  });
  return { kind: 'failed', error, cause: 'answer', sent: false, httpStatus: undefined };
}

export function tooManyWatches(server: string, limit: number): WireFailure {
  const error = new HubError('OVERLOADED', `Of server "${server}", ${limit} resources are watched already.`, {
    hint: 'Nothing was sent. Watch fewer resources.',
    details: { server },
  });
  return { kind: 'failed', error, cause: 'answer', sent: false, httpStatus: undefined };
}

/** A status that is an answer in itself. 401, 403, 451 and 429 never count against the server's health. */
export function statusFailure(
  server: string,
  status: number,
  retryAfter: string | undefined,
  date?: string | undefined,
): WireFailure {
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
    return new HubError('UPSTREAM_NEEDS_LOGIN', `Server "${server}" wants a login (401).`, {
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

/** Seconds, or a date; that counts from the date of the answer itself, for nobody knows the clock of the server. */
function retryAfterToMs(retryAfter: string, date: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(retryAfter)) return Math.min(Number(retryAfter) * 1000, dayMs);
  const ms = httpDate(retryAfter) - httpDate(date);
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), dayMs);
}

/** Only the form that HTTP prescribes: the parser would make a date of nearly anything. */
function httpDate(text: string): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : Number.NaN;
}

export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}
