import { HubError, isJsonObject } from '../base/index.ts';
import type { WireReply } from '../upstream/index.ts';
import type { Target } from './target.ts';

/** What a caller is told when its call goes wrong. */
export function stopping(): HubError {
  return new HubError('HUB_STOPPING', 'The hub is shutting down and takes no new calls.');
}

/** The end of a call that outlasted the time that a hub gives when it stops. */
export function interrupted(): HubError {
  return new HubError('INTERRUPTED', 'The hub was shut down before the call had its answer.', {
    hint: 'The call may have run; check before you repeat it.',
  });
}

export function unknownTool(name: string): HubError {
  return new HubError('TOOL_UNKNOWN', `Unknown tool: ${beginning(name)}`, {
    hint: 'Ask for the list of tools again.',
    details: { tool: name.slice(0, 200) },
  });
}

/** A name that nobody has may be a book. The ellipsis tells redaction that a secret may have been cut through. */
export function beginning(name: string): string {
  return name.length > 200 ? `${name.slice(0, 200)}…` : name;
}

export function approvalNeeded(target: Target): HubError {
  return new HubError('APPROVAL_REQUIRED', `A rule wants a human to approve ${target.server}.${target.subjectName}.`, {
    hint: 'Approvals cannot be given yet, so the call is denied; an operator can change the rule.',
    details: { server: target.server, tool: target.subjectName },
  });
}

export function badArguments(target: Target): HubError {
  return new HubError('ARGUMENTS_INVALID', `The arguments of ${target.name} must be a JSON object.`, {
    details: { server: target.server, tool: target.subjectName },
  });
}

export function tooManyCalls(target: Target): HubError {
  const limit = target.control.spec.limits.concurrency;
  return new HubError('OVERLOADED', `Server "${target.server}" already has ${limit} calls under way.`, {
    hint: 'Wait for some to end, or raise limits.concurrency.',
    details: { server: target.server, tool: target.subjectName },
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
export function unsent(error: HubError): WireReply {
  return { kind: 'failed', error, cause: 'gave-up', sent: false, httpStatus: undefined };
}

export function unknownResult(target: Target, resultType: unknown): WireReply {
  const type = typeof resultType === 'string' ? JSON.stringify(resultType.slice(0, 40)) : typeof resultType;
  const error = new HubError(
    'UPSTREAM_GARBLED',
    `Server "${target.server}" answered with a result of type ${type}, which was not offered to it.`,
    { details: { server: target.server } },
  );
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus: undefined };
}

/** The beginning of a tool's own error, for the ledger, which cuts it when its secrets are out. */
export function toolError(value: Readonly<Record<string, unknown>>): string {
  const first: unknown = Array.isArray(value.content) ? value.content[0] : undefined;
  const text = isJsonObject(first) ? first.text : undefined;
  return typeof text === 'string' && text !== '' ? text : 'the tool reported an error';
}

export function withTool(error: HubError, target: Target): HubError {
  const { hint, cause } = error;
  return new HubError(error.code, error.message, {
    cause,
    ...(hint === undefined ? {} : { hint }),
    details: { ...error.details, server: target.server, tool: target.subjectName },
  });
}
