import { type Clock, HubError, isJsonObject, toHubError } from '../base/index.ts';
import { type Ledger, type LedgerConnection, ledgerConnection, ledgerSubject, type OpenCall } from '../ledger/index.ts';
import type { Link, WireReply } from '../upstream/index.ts';
import type { Call, CallResult } from './call.ts';
import { outcomeOf } from './outcomes.ts';
import type { ViewEntry } from './view.ts';
import type { Views } from './views.ts';

/**
 * THE path of a call. Nothing reaches an upstream server on behalf of a caller but through here:
 *
 *   look up → decide → check arguments → enter → connect → journal "sent" → upstream → journal "done"
 *
 * The face has authenticated the caller. Every exit before "sent" is journaled as refused.
 */
export function createCallPath(deps: CallPathDeps): (call: Call) => Promise<CallResult> {
  const { clock, ledger, views } = deps;
  const connectionFacts = new WeakMap<Link, LedgerConnection>();

  return async function runCall(call) {
    deps.underWay.add(call);
    try {
      return await pass(call);
    } finally {
      deps.underWay.delete(call);
      call.ended();
    }
  };

  async function pass(call: Call): Promise<CallResult> {
    const { caller, name, argumentsText } = call.request;
    const startedAt = clock.monotonic();
    const entry = views.of(caller.chain).entries.get(name) ?? (await views.settled(caller.chain)).entries.get(name);
    if (entry === undefined) {
      const subject = ledgerSubject({
        agent: caller.agent,
        chain: caller.chain,
        server: null,
        tool: name,
        decision: 'deny',
      });
      const record = ledger.open(subject, caller.run, argumentsText);
      return refuse(record, startedAt, unknownTool(name));
    }
    const record = ledger.open(entry.subject, caller.run, argumentsText);
    const objection = objectionTo(call, entry);
    if (objection !== undefined) return refuse(record, startedAt, objection);
    if (!entry.dispatch.enter()) return refuse(record, startedAt, tooManyCalls(entry));
    try {
      return await perform(call, entry, record, startedAt);
    } finally {
      entry.dispatch.leave();
    }
  }

  function objectionTo(call: Call, entry: ViewEntry): HubError | undefined {
    if (deps.isStopping()) return new HubError('HUB_STOPPING', 'The hub is shutting down and takes no new calls.');
    if (entry.decision.effect === 'ask') return approvalNeeded(entry);
    if (!isJsonObject(call.request.args)) return badArguments(entry);
    return call.cancelled;
  }

  async function perform(call: Call, entry: ViewEntry, record: OpenCall, startedAt: number): Promise<CallResult> {
    let link: Link;
    try {
      link = entry.dispatch.link ?? (await entry.dispatch.connect());
      if (call.cancelled !== undefined) throw call.cancelled;
      await ledger.sent(record, factsOf(link));
    } catch (error) {
      return refuse(record, startedAt, toHubError(error));
    }
    let reply = await send(call, entry, link, record);
    let retries = 0;
    if (reply.kind === 'failed' && mayRepeat(call, entry, reply)) {
      entry.dispatch.reportLoss(link, reply);
      try {
        link = entry.dispatch.link ?? (await entry.dispatch.connect());
        retries = 1;
        reply = await send(call, entry, link, record);
      } catch {
        // The server stays away: what happened to the first attempt is the answer.
      }
    }
    return conclude(entry, record, startedAt, reply, retries);
  }

  function send(call: Call, entry: ViewEntry, link: Link, record: OpenCall): Promise<WireReply> {
    const { request } = call;
    const { limits } = entry.control.spec;
    const wire = link.send({
      method: 'tools/call',
      members: entry.callHead + request.argumentsText,
      meta: `${request.meta}${request.meta === '' ? '' : ','}"quartermaster/call-id":"${record.id}"`,
      name: entry.tool.name,
      mirrored: entry.tool.mirrored,
      args: request.args,
      timeoutMs: limits.timeoutMs,
      maxMs: limits.maxMs,
      onProgress: request.channel === undefined ? undefined : (params) => call.progress(params),
    });
    call.wasSent(wire);
    return wire.reply;
  }

  function conclude(
    entry: ViewEntry,
    record: OpenCall,
    startedAt: number,
    reply: WireReply,
    retries: number,
  ): CallResult {
    const durationMs = clock.monotonic() - startedAt;
    switch (reply.kind) {
      case 'result': {
        const { resultType, isError } = reply.value;
        if (resultType !== undefined && resultType !== 'complete') {
          return conclude(entry, record, startedAt, unknownResult(entry, resultType), retries);
        }
        if (isError === true)
          ledger.done(record, { outcome: 'tool_error', durationMs, error: toolError(reply.value), retries });
        else ledger.done(record, { outcome: 'ok', durationMs, retries });
        return { kind: 'result', result: reply };
      }
      case 'error':
        ledger.done(record, { outcome: 'upstream_error', durationMs, error: reply.message, retries });
        return reply;
      case 'failed': {
        const { error, httpStatus } = reply;
        const outcome = outcomeOf(error.code);
        const http = httpStatus === undefined ? {} : { httpStatus };
        ledger.done(record, { outcome, durationMs, error: error.message, retries, ...http });
        return { kind: 'failed', error: withTool(error, entry) };
      }
    }
  }

  function refuse(record: OpenCall, startedAt: number, error: HubError): CallResult {
    const durationMs = clock.monotonic() - startedAt;
    ledger.refused(record, { outcome: outcomeOf(error.code), durationMs, error: error.message });
    return { kind: 'failed', error };
  }

  function factsOf(link: Link): LedgerConnection {
    let facts = connectionFacts.get(link);
    if (facts === undefined) {
      facts = ledgerConnection(link);
      connectionFacts.set(link, facts);
    }
    return facts;
  }
}

export interface CallPathDeps {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly views: Views;
  /** Calls that have not ended; the hub waits for them when it stops. */
  readonly underWay: Set<Call>;
  isStopping(): boolean;
}

/** Repeating is safe when nothing was sent, or when the server itself says that the tool only reads. */
function mayRepeat(call: Call, entry: ViewEntry, reply: WireReply & { kind: 'failed' }): boolean {
  if (call.cancelled !== undefined || (reply.cause !== 'connection' && reply.cause !== 'session')) return false;
  return !reply.sent || entry.tool.safeToRepeat;
}

function unknownTool(name: string): HubError {
  return new HubError('TOOL_UNKNOWN', `Unknown tool: ${name.slice(0, 200)}`, {
    hint: 'Ask for the list of tools again.',
    details: { tool: name.slice(0, 200) },
  });
}

function approvalNeeded(entry: ViewEntry): HubError {
  return new HubError('APPROVAL_REQUIRED', `A rule wants a human to approve ${entry.server}.${entry.tool.name}.`, {
    hint: 'Approvals cannot be given yet, so the call is denied; an operator can change the rule.',
    details: { server: entry.server, tool: entry.tool.name },
  });
}

function badArguments(entry: ViewEntry): HubError {
  return new HubError('ARGUMENTS_INVALID', `The arguments of ${entry.name} must be a JSON object.`, {
    details: { server: entry.server, tool: entry.tool.name },
  });
}

function tooManyCalls(entry: ViewEntry): HubError {
  const limit = entry.control.spec.limits.concurrency;
  return new HubError('OVERLOADED', `Server "${entry.server}" already has ${limit} calls under way.`, {
    hint: 'Wait for some to end, or raise limits.concurrency.',
    details: { server: entry.server, tool: entry.tool.name },
  });
}

function unknownResult(entry: ViewEntry, resultType: unknown): WireReply {
  const error = new HubError(
    'UPSTREAM_GARBLED',
    `Server "${entry.server}" answered with a result of type ${String(resultType).slice(0, 40)}, which was not offered to it.`,
    { details: { server: entry.server } },
  );
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus: undefined };
}

/** The first words of a tool's own error, for the ledger. */
function toolError(value: Readonly<Record<string, unknown>>): string {
  const first: unknown = Array.isArray(value.content) ? value.content[0] : undefined;
  const text = isJsonObject(first) ? first.text : undefined;
  return typeof text === 'string' && text !== '' ? text.slice(0, 500) : 'the tool reported an error';
}

function withTool(error: HubError, entry: ViewEntry): HubError {
  const { hint, cause } = error;
  return new HubError(error.code, error.message, {
    cause,
    ...(hint === undefined ? {} : { hint }),
    details: { ...error.details, server: entry.server, tool: entry.tool.name },
  });
}
