import { HubError, isJsonObject } from '../base/index.ts';
import type { WireReply } from '../upstream/index.ts';
import type { ViewEntry } from './view.ts';

/** What a caller is told when its call goes wrong. */
export function stopping(): HubError {
  return new HubError('HUB_STOPPING', 'The hub is shutting down and takes no new calls.');
}

export function unknownTool(name: string): HubError {
  return new HubError('TOOL_UNKNOWN', `Unknown tool: ${name.slice(0, 200)}`, {
    hint: 'Ask for the list of tools again.',
    details: { tool: name.slice(0, 200) },
  });
}

export function approvalNeeded(entry: ViewEntry): HubError {
  return new HubError('APPROVAL_REQUIRED', `A rule wants a human to approve ${entry.server}.${entry.tool.name}.`, {
    hint: 'Approvals cannot be given yet, so the call is denied; an operator can change the rule.',
    details: { server: entry.server, tool: entry.tool.name },
  });
}

export function badArguments(entry: ViewEntry): HubError {
  return new HubError('ARGUMENTS_INVALID', `The arguments of ${entry.name} must be a JSON object.`, {
    details: { server: entry.server, tool: entry.tool.name },
  });
}

export function tooManyCalls(entry: ViewEntry): HubError {
  const limit = entry.control.spec.limits.concurrency;
  return new HubError('OVERLOADED', `Server "${entry.server}" already has ${limit} calls under way.`, {
    hint: 'Wait for some to end, or raise limits.concurrency.',
    details: { server: entry.server, tool: entry.tool.name },
  });
}

export function rateLimited(entry: ViewEntry, perMinute: number, retryAfterMs: number): HubError {
  const { server, tool } = entry;
  const wait = Math.ceil(retryAfterMs / 1000);
  return new HubError(
    'RATE_LIMITED',
    `Server "${server}" is at its rate limit of ${perMinute} per minute. Try again in ${wait} s.`,
    {
      hint: 'Nothing was sent. The limit is limits.rate_per_min of the server.',
      details: { server, tool: tool.name, retryAfterMs },
    },
  );
}

/** The call was cancelled while its record was being written. */
export function unsent(error: HubError): WireReply {
  return { kind: 'failed', error, cause: 'gave-up', sent: false, httpStatus: undefined };
}

export function unknownResult(entry: ViewEntry, resultType: unknown): WireReply {
  const type = typeof resultType === 'string' ? JSON.stringify(resultType.slice(0, 40)) : typeof resultType;
  const error = new HubError(
    'UPSTREAM_GARBLED',
    `Server "${entry.server}" answered with a result of type ${type}, which was not offered to it.`,
    { details: { server: entry.server } },
  );
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus: undefined };
}

/** The first words of a tool's own error, for the ledger. */
export function toolError(value: Readonly<Record<string, unknown>>): string {
  const first: unknown = Array.isArray(value.content) ? value.content[0] : undefined;
  const text = isJsonObject(first) ? first.text : undefined;
  return typeof text === 'string' && text !== '' ? text.slice(0, 500) : 'the tool reported an error';
}

export function withTool(error: HubError, entry: ViewEntry): HubError {
  const { hint, cause } = error;
  return new HubError(error.code, error.message, {
    cause,
    ...(hint === undefined ? {} : { hint }),
    details: { ...error.details, server: entry.server, tool: entry.tool.name },
  });
}
