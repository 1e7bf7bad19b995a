import type { Outcome } from '../domain/index.ts';
import { type EndParts, isGood, numberText } from './call-text.ts';
import { longestError, memberText } from './cut-text.ts';
import type { Redact } from './redact.ts';

export interface CallEnd {
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly error?: string;
  readonly httpStatus?: number;
  readonly retries?: number;
  /** No server was asked: the answer is one that was kept. */
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

/** Three decimals from whole numbers: printing a fraction is several times dearer. */
function millisecondsText(ms: number): string {
  const micros = Math.round(ms * 1000);
  if (!(micros >= 0 && micros < 2 ** 52)) return numberText(micros / 1000);
  const rest = micros % 1000;
  if (rest === 0) return String(micros / 1000);
  return `${(micros - rest) / 1000}.${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}`;
}

/** What stands in the ledger for a call whose hub did not live to see the answer. */
export function interruptedParts(): EndParts {
  return {
    outcome: 'interrupted',
    ms: 'null',
    error: JSON.stringify('The hub died while this call was under way; it may have run.'),
    http: 'null',
    retries: 'null',
  };
}

/** An error line always says something, and recipes that people have look for "rate limit" in lower case. */
function errorText(end: CallEnd, redact: Redact): string {
  let message = end.error === undefined || end.error === '' ? sayings[end.outcome] : redact.message(end.error);
  const limited = end.outcome === 'rate_limited' || end.outcome === 'throttled';
  if (limited && !message.includes('rate limit')) message = `rate limit: ${message}`;
  return memberText('error', message, JSON.stringify(message), longestError);
}

const sayings: Readonly<Record<Outcome, string>> = {
  ok: 'The call succeeded.',
  input_required: 'The server asked for more.',
  task: 'The server made a task of the call.',
  input_missing: 'The caller did not give what the server asked for.',
  tool_error: 'The tool reported an error.',
  upstream_error: 'The server answered with an error.',
  denied: 'A policy denied the call.',
  rate_limited: 'rate limit exceeded.',
  overloaded: 'Too many calls were under way for the server.',
  timeout: 'The server did not answer in time; the call may still have run.',
  cancelled: 'The caller cancelled the call.',
  unavailable: 'The call could not be sent.',
  lost: 'The connection broke after the call was sent; it may have run.',
  needs_login: 'The server wants a login.',
  forbidden: 'The server refuses the credential.',
  throttled: 'The server is throttling: rate limit exceeded.',
  interrupted: 'The call was interrupted; it may have run.',
  invalid: 'The arguments were not valid.',
  unknown_tool: 'The agent has no tool of that name.',
};
