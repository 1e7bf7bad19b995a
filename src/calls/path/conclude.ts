import { countedBytes, HubError } from '../../base/index.ts';
import type { Outcome } from '../../domain/index.ts';
import type { ErrorReply, FailedReply, ResultReply, UpstreamReply } from '../../upstream/index.ts';
import { forCaller } from '../availability/unavailable.ts';
import type { CallResult } from '../call.ts';
import { resultOverLimit, resultUnread, toolError, unknownResult } from '../call-errors.ts';
import { outcomeOf } from '../outcomes.ts';
import { redactedError, redactedReply } from '../results/redact-result.ts';
import { withExposedTask } from '../tasks.ts';
import { exposedError } from '../views/exposed-result.ts';
import type { CallRun } from './call-run.ts';
import { exposedReply } from './expose-result.ts';
import { closeRecord } from './record.ts';

/** Records the outcome and translates the result for the agent. */
export function conclude(run: CallRun, answer: UpstreamReply): CallResult {
  const { target, path, call } = run;
  const { caller, argumentsText } = call.request;
  path.budgets?.spend(caller, argumentsText.length + (answer.kind === 'result' ? answer.text.length : 0));
  const reply = target.tasks ? withExposedTask(call.request, target, path.taskIds, answer) : answer;
  switch (reply.kind) {
    case 'result':
      return concludeResult(run, reply);
    case 'error':
      return concludeError(run, reply);
    case 'failed':
      return concludeFailure(run, reply);
  }
}

function concludeResult(run: CallRun, reply: ResultReply): CallResult {
  const { durationMs, retries, target } = run;
  const { httpStatus, text } = reply;
  const excess = overLimit(run, text);
  if (excess !== undefined) return concludeFailure(run, { ...excess, httpStatus });
  if (!hasRoomFor(run, text.length)) return concludeFailure(run, resultUnread(target, text.length, httpStatus));
  const outcome = outcomeOfResult(run, reply);
  if (outcome === undefined) return concludeFailure(run, unknownResult(target, reply.value.resultType, httpStatus));
  const redacted = redactedReply(target, reply);
  if (redacted instanceof HubError) return concludeUnusable(run, redacted, httpStatus);
  const result = exposedReply(run, redacted);
  if (result instanceof HubError) return concludeUnusable(run, result, httpStatus);
  const error = outcome === 'tool_error' ? { error: toolError(redacted.value) } : {};
  closeRecord(run, { outcome, durationMs, ...error, retries, httpStatus });
  return { kind: 'result', result };
}

/** Undefined for a type of result that the hub did not ask for. */
function outcomeOfResult({ target }: CallRun, { value }: ResultReply): Outcome | undefined {
  const { resultType, isError } = value;
  if (resultType === 'input_required') return 'input_required';
  if (resultType === 'task' && target.tasks) return 'task';
  if (resultType !== undefined && resultType !== 'complete') return undefined;
  return isError === true ? 'tool_error' : 'ok';
}

/** The server's own limit on results. The call ran, so the agent must know that, and how to get less. */
function overLimit({ target }: CallRun, text: string): FailedReply | undefined {
  const limit = target.control.spec.limits.maxResultBytes;
  // No character takes more than three bytes per unit of its length.
  if (limit === undefined || text.length * 3 <= limit) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return undefined;
  return {
    kind: 'failed',
    error: resultOverLimit(target, bytes, limit),
    cause: 'answer',
    sent: true,
    httpStatus: undefined,
  };
}

/** Most results are small and need no room of their own. */
export function hasRoomFor({ call }: CallRun, bytes: number): boolean {
  return bytes <= countedBytes || call.request.caller.answers?.reserve(bytes) !== false;
}

/** The call ran, but the agent cannot get its result. */
function concludeUnusable(run: CallRun, error: HubError, httpStatus: number | undefined): CallResult {
  return concludeFailure(run, { kind: 'failed', error, cause: 'answer', sent: true, httpStatus });
}

function concludeError(run: CallRun, answer: ErrorReply): CallResult {
  const { durationMs, retries, target } = run;
  const { httpStatus } = answer;
  const reply = redactedError(target, answer);
  if (reply instanceof HubError) return concludeUnusable(run, reply, httpStatus);
  const { message } = reply;
  closeRecord(run, { outcome: 'upstream_error', durationMs, error: message, retries, httpStatus });
  const error = exposedError(run.target, reply);
  return error === undefined ? reply : { kind: 'failed', error };
}

function concludeFailure(run: CallRun, { error, httpStatus }: FailedReply): CallResult {
  const { durationMs, retries } = run;
  closeRecord(run, { outcome: outcomeOf(error.code), durationMs, error: error.message, retries, httpStatus });
  return { kind: 'failed', error: forCaller(error, run.target, run.path.clock.now()) };
}
