import type { Outcome } from '../../domain/index.ts';
import { type EndParts, isGood, numberText } from './call-text.ts';
import { errorMember } from './cut-text.ts';
import type { Redact } from './redact.ts';

export interface CallEnd {
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly error?: string;
  readonly httpStatus?: number | undefined;
  readonly retries?: number;
  /** Answered from the cache, without the server. */
  readonly cached?: true;
}

export function endParts(end: CallEnd, redact: Redact): EndParts {
  return {
    outcome: end.outcome,
    ms: millisecondsText(end.durationMs),
    error: isGood(end.outcome) ? 'null' : errorText(end, redact),
    http: numberText(end.httpStatus),
    retries: numberText(end.retries),
  };
}

/** Builds three decimals from integers: printing a fraction is several times slower. */
function millisecondsText(ms: number): string {
  const micros = Math.round(ms * 1000);
  if (!(micros >= 0 && micros < 2 ** 52)) return numberText(micros / 1000);
  const rest = micros % 1000;
  if (rest === 0) return String(micros / 1000);
  return `${(micros - rest) / 1000}.${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}`;
}

/** The end of a call whose hub died before the result arrived. */
export function interruptedParts(): EndParts {
  return {
    outcome: 'interrupted',
    ms: 'null',
    error: JSON.stringify('The hub died while this call was in flight; it may have run.'),
    http: 'null',
    retries: 'null',
  };
}

/** The end of a call that was held when its hub died. */
export function voidParts(): EndParts {
  return {
    outcome: 'void',
    ms: 'null',
    error: JSON.stringify('The hub died while this call waited for a decision. It was not sent and did not run.'),
    http: 'null',
    retries: 'null',
  };
}

/** An error is never empty, and existing recipes search for "rate limit" in lower case. */
function errorText(end: CallEnd, redact: Redact): string {
  const limited = end.outcome === 'rate_limited' || end.outcome === 'throttled';
  const text = end.error === undefined || end.error === '' ? sayings[end.outcome] : end.error;
  return errorMember(text, redact, (shown) =>
    limited && !shown.includes('rate limit') ? `rate limit: ${shown}` : shown,
  );
}

const sayings: Readonly<Record<Outcome, string>> = {
  ok: 'The call succeeded.',
  input_required: 'The server asked for more.',
  task: 'The server made a task of the call.',
  pending: 'The call waits for approval.',
  input_missing: 'The client did not provide the input that the server asked for.',
  tool_error: 'The tool reported an error.',
  upstream_error: 'The server answered with an error.',
  denied: 'A policy denied the call.',
  rate_limited: 'rate limit exceeded.',
  overloaded: 'Too many calls were in flight for the server.',
  result_dropped: 'The call ran, but its result was too large to be delivered.',
  timeout: 'The server did not answer in time; the call may still have run.',
  cancelled: 'The caller cancelled the call.',
  unavailable: 'The call could not be sent.',
  lost: 'The connection broke after the call was sent; it may have run.',
  needs_login: 'The server requires a login.',
  forbidden: 'The server refuses the credential.',
  throttled: 'The server is throttling: rate limit exceeded.',
  interrupted: 'The call was interrupted; it may have run.',
  void: 'The call was held and never sent; it did not run.',
  invalid: 'The arguments were not valid.',
  unknown_tool: 'The agent has no tool of that name.',
};
