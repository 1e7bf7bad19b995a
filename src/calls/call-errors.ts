import { HubError } from '../base/index.ts';
import type { Decision, DecisionReason } from '../domain/index.ts';
import { firstTextOf } from '../mcp/index.ts';
import type { FailedReply } from '../upstream/index.ts';
import type { CallState } from './call.ts';
import type { Target } from './target.ts';

/** The answers for calls that fail. */
export function stopping(): HubError {
  return new HubError('HUB_STOPPING', 'The hub is shutting down and accepts no new calls.');
}

/** For a call that did not finish in the time that a stopping hub allows. */
export function interrupted(): HubError {
  return new HubError('INTERRUPTED', 'The hub was shut down before the call was answered.', {
    hint: 'The call may have run; check before you repeat it.',
  });
}

/** For a call that a stopping hub ends. One that was not sent did not run. */
export function whyStopped(state: CallState): HubError {
  if (state === 'sent' || state === 'awaiting-input') return interrupted();
  return new HubError('HUB_STOPPING', 'The hub was shut down before the call was sent, so it did not run.');
}

export function unknownTool(name: string): HubError {
  return new HubError('TOOL_UNKNOWN', `Unknown tool: ${beginning(name)}`, {
    hint: 'List the tools again.',
    details: { tool: name.slice(0, 200) },
  });
}

/** An unknown name may be very long. The ellipsis tells redaction that a secret may be cut off. */
export function beginning(name: string): string {
  return name.length > 200 ? `${name.slice(0, 200)}…` : name;
}

/** While the call was held, its name came to mean something else. */
export function movedTool({ name, server, subjectName: tool }: Target): HubError {
  return new HubError('TOOL_UNKNOWN', `"${name}" is no longer ${server}.${tool}: the configuration has changed.`, {
    hint: 'Nothing was sent. List the tools again.',
    details: { server, tool },
  });
}

export function notSelected({ server, subjectName: tool }: Target): HubError {
  const message = `Tool ${server}.${tool} is not among those that the program selected for this agent.`;
  return new HubError('TOOL_UNKNOWN', message, { hint: 'Add it to the selection.', details: { server, tool } });
}

/** The agent sees the tool, so it may know that its arguments are the reason. */
export function deniedArguments(target: Target, { reason }: Decision): HubError {
  const { server, subjectName: tool } = target;
  const said = reason.kind === 'rule' && reason.message !== undefined ? ` ${reason.message}` : '';
  return new HubError('POLICY_DENIED', `${whatDenies(reason)} ${server}.${tool} with these arguments.${said}`, {
    hint: 'Other arguments may be allowed; an operator can change the rule.',
    details: { server, tool },
  });
}

/** The new definition is not quoted: a model must not read it before a person has. */
export function definitionChanged({ server, subjectName: tool }: Target): HubError {
  const message = `Server "${server}" has changed the definition of ${server}.${tool}, and nobody has accepted the change. Nothing was sent.`;
  return new HubError('POLICY_DENIED', message, {
    hint: `Continue without it. An operator can see the change with \`qm lock --diff ${server}\` and accept it with \`qm lock accept\`.`,
    details: { server, tool },
  });
}

function whatDenies({ kind }: DecisionReason): string {
  if (kind === 'protected-path') return 'A path in the arguments is protected, which denies';
  return kind === 'unclear-path' ? 'A path in the arguments has no single meaning, which denies' : 'A rule denies';
}

export function badArguments(target: Target): HubError {
  return new HubError('ARGUMENTS_INVALID', `The arguments of ${target.name} must be a JSON object.`, {
    details: { server: target.server, tool: target.subjectName },
  });
}

export function tooManyCalls(target: Target): HubError {
  const limit = target.control.spec.limits.concurrency;
  const details = { server: target.server, tool: target.subjectName };
  if (target.control.load().inFlight < limit) {
    const message = `Server "${target.server}" is busy, and this agent has its share of the ${limit} calls that may be in flight.`;
    return new HubError('OVERLOADED', message, {
      hint: 'Wait for some of your calls to end: the rest is kept for other agents. Or raise limits.concurrency.',
      details,
    });
  }
  return new HubError('OVERLOADED', `Server "${target.server}" already has ${limit} calls in flight.`, {
    hint: 'Wait for some to end, or raise limits.concurrency.',
    details,
  });
}

export function rateLimited(target: Target, perMinute: number, retryAfterMs: number): HubError {
  const { server, subjectName: tool } = target;
  const wait = Math.ceil(retryAfterMs / 1000);
  return new HubError(
    'RATE_LIMITED',
    `Server "${server}" is at its rate limit of ${perMinute} per minute. Try again in ${wait} s.`,
    {
      hint: 'Nothing was sent. The limit is limits.rate_per_min of the server.',
      details: { server, tool, retryAfterMs },
    },
  );
}

/** The call was cancelled while its record was being written. */
export function unsent(error: HubError): FailedReply {
  return { kind: 'failed', error, cause: 'gave-up', sent: false, httpStatus: undefined };
}

export function resultTooLarge(bytes: number): HubError {
  return new HubError(
    'RESULT_TOO_LARGE',
    `The call ran, but its result of ${bytes} bytes was dropped: earlier answers still wait to be read.`,
    { hint: 'Read the answers to earlier requests first, or ask for less at once.' },
  );
}

export function resultOverLimit({ server, subjectName: tool }: Target, bytes: number, limit: number): HubError {
  const message = `The call ran, but its result of ${bytes} bytes was dropped: server "${server}" may return ${limit}.`;
  return new HubError('RESULT_TOO_LARGE', message, {
    hint: 'Ask for less at once: fewer items, a range or a filter. The limit is limits.max_result_bytes of the server.',
    details: { server, tool, bytes, limit },
  });
}

/** The server has answered, but the agent's clients leave too much unread to get more. */
export function resultUnread(target: Target, bytes: number, httpStatus: number | undefined): FailedReply {
  const error = withTool(resultTooLarge(bytes), target);
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus };
}

/** Quotes the type only if the protocol defines it, because a server can answer with anything. */
export function unknownResult(target: Target, resultType: unknown, httpStatus: number | undefined): FailedReply {
  const isOwn = typeof resultType === 'string' && resultType !== 'task' && resultType !== 'input_required';
  const type = isOwn
    ? 'of an unknown type'
    : `of type ${typeof resultType === 'string' ? resultType : typeof resultType}`;
  const error = new HubError(
    'UPSTREAM_GARBLED',
    `Server "${target.server}" answered with a result ${type}, which was not offered to it.`,
    { details: { server: target.server } },
  );
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus };
}

/** The start of the tool's error for the ledger, which shortens it after redaction. */
export function toolError(value: Readonly<Record<string, unknown>>): string {
  return firstTextOf(value) || 'the tool reported an error';
}

export function withTool(error: HubError, target: Target): HubError {
  const { hint, cause } = error;
  return new HubError(error.code, error.message, {
    cause,
    ...(hint === undefined ? {} : { hint }),
    details: { ...error.details, server: target.server, tool: target.subjectName },
  });
}
