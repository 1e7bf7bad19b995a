import { type Clock, type HubError, isJsonObject, toHubError } from '../base/index.ts';
import type { Caller } from '../domain/index.ts';
import {
  type CallEnd,
  type Ledger,
  type LedgerConnection,
  type LedgerSubject,
  ledgerConnection,
  ledgerSubject,
  type OpenCall,
} from '../ledger/index.ts';
import type { Link, WireFailure, WireReply } from '../upstream/index.ts';
import { forCaller, missingTool } from './away.ts';
import type { Call, CallResult } from './call.ts';
import type { CallMeter } from './call-meter.ts';
import { createCallRates } from './call-rates.ts';
import { outcomeOf } from './outcomes.ts';
import {
  approvalNeeded,
  badArguments,
  rateLimited,
  stopping,
  toolError,
  tooManyCalls,
  unknownResult,
  unsent,
} from './refusals.ts';
import type { ViewEntry } from './view.ts';
import type { Views } from './views.ts';

/**
 * THE path of a call. Nothing reaches an upstream server on behalf of a caller but through here:
 *
 *   look up → decide → check arguments → enter → connect → take rate → journal "sent" → upstream → journal "done"
 *
 * The face has authenticated the caller. Every exit before "sent" is journaled as refused.
 */
export function createCallPath(deps: CallPathDeps): (call: Call) => Promise<CallResult> {
  const { clock, ledger, views, meter } = deps;
  const connectionFacts = new WeakMap<Link, LedgerConnection>();
  const rates = createCallRates();

  return async function runCall(call) {
    const { caller, name, argumentsText } = call.request;
    const startedAt = clock.monotonic();
    let entered: ViewEntry | undefined;
    let record: OpenCall | undefined;
    deps.underWay.add(call);
    try {
      const entry = views.of(caller.chain).entries.get(name) ?? (await views.settled(caller.chain)).entries.get(name);
      if (entry === undefined) {
        record = ledger.open(unknownSubject(caller, name), caller.run, argumentsText);
        return refuse(undefined, record, startedAt, missingTool(views.of(caller.chain), name, clock.now()));
      }
      record = ledger.open(entry.subject, caller.run, argumentsText);
      const objection = objectionTo(call, entry);
      if (objection !== undefined) return refuse(entry, record, startedAt, objection);
      if (!entry.dispatch.enter()) return refuse(entry, record, startedAt, tooManyCalls(entry));
      entered = entry;

      let link: Link;
      try {
        link = entry.dispatch.link ?? (await call.waitFor(entry.dispatch.connect()));
        if (call.cancelled !== undefined) throw call.cancelled;
        const { ratePerMin } = entry.control.spec.limits;
        // Last of all: what the server never sees costs nothing, and the minute is that of the sending.
        if (ratePerMin !== undefined) await takeRate(entry, ratePerMin);
        await ledger.sent(record, factsOf(link));
      } catch (error) {
        const known = toHubError(error);
        return refuse(entry, record, startedAt, known, forCaller(known, entry, clock.now()));
      }
      const reply = call.cancelled === undefined ? await send(call, entry, link, record) : unsent(call.cancelled);
      if (reply.kind !== 'failed' || !mayRepeat(call, entry, reply))
        return conclude(entry, record, startedAt, reply, 0);
      return await repeat(call, entry, link, record, startedAt, reply);
    } catch (error) {
      // A defect; even so the call has an end on the ledger.
      if (record !== undefined) closeRecord(entered, record, endOf(toHubError(error), startedAt));
      throw error;
    } finally {
      entered?.dispatch.leave();
      deps.underWay.delete(call);
      call.ended();
    }
  };

  function objectionTo(call: Call, entry: ViewEntry): HubError | undefined {
    if (deps.isStopping()) return stopping();
    if (entry.decision.effect === 'ask') return approvalNeeded(entry);
    if (!isJsonObject(call.request.args)) return badArguments(entry);
    return call.cancelled;
  }

  async function takeRate(entry: ViewEntry, perMinute: number): Promise<void> {
    const waitMs = await rates.take(entry.server, perMinute);
    if (waitMs > 0) throw rateLimited(entry, perMinute, waitMs);
  }

  /** Once more over a new connection; if there is none, what happened to the first attempt is the answer. */
  async function repeat(
    call: Call,
    entry: ViewEntry,
    lost: Link,
    record: OpenCall,
    startedAt: number,
    first: WireFailure,
  ): Promise<CallResult> {
    entry.dispatch.reportLoss(lost, first);
    let link: Link;
    try {
      link = entry.dispatch.link ?? (await call.waitFor(entry.dispatch.connect()));
    } catch {
      return conclude(entry, record, startedAt, first, 0);
    }
    if (call.cancelled !== undefined) return conclude(entry, record, startedAt, first, 0);
    return conclude(entry, record, startedAt, await send(call, entry, link, record), 1);
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
          closeRecord(entry, record, { outcome: 'tool_error', durationMs, error: toolError(reply.value), retries });
        else closeRecord(entry, record, { outcome: 'ok', durationMs, retries });
        return { kind: 'result', result: reply };
      }
      case 'error':
        closeRecord(entry, record, { outcome: 'upstream_error', durationMs, error: reply.message, retries });
        return reply;
      case 'failed': {
        const { error, httpStatus } = reply;
        const outcome = outcomeOf(error.code);
        const http = httpStatus === undefined ? {} : { httpStatus };
        closeRecord(entry, record, { outcome, durationMs, error: error.message, retries, ...http });
        return { kind: 'failed', error: forCaller(error, entry, clock.now()) };
      }
    }
  }

  /** The ledger has what happened; what the caller is told may say more. */
  function refuse(
    entry: ViewEntry | undefined,
    record: OpenCall,
    startedAt: number,
    error: HubError,
    told = error,
  ): CallResult {
    closeRecord(entry, record, endOf(error, startedAt));
    return { kind: 'failed', error: told };
  }

  /** Every call ends here, on the ledger and in the numbers, and only once. */
  function closeRecord(entry: ViewEntry | undefined, record: OpenCall, end: CallEnd): void {
    const { stage } = record;
    if (stage === 'ended') return;
    // What was not sent is a refusal to the ledger, too.
    ledger.done(record, end);
    if (stage === 'sent' && entry !== undefined) meter?.ended(entry, end.outcome, end.durationMs);
    else meter?.refused(entry, end.outcome);
  }

  function endOf(error: HubError, startedAt: number): CallEnd {
    return { outcome: outcomeOf(error.code), durationMs: clock.monotonic() - startedAt, error: error.message };
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
  readonly meter?: CallMeter | undefined;
  isStopping(): boolean;
}

/** Repeating is safe when nothing was sent, or when the server itself says that the tool only reads. */
function mayRepeat(call: Call, entry: ViewEntry, reply: WireReply & { kind: 'failed' }): boolean {
  if (call.cancelled !== undefined || (reply.cause !== 'connection' && reply.cause !== 'session')) return false;
  return !reply.sent || entry.tool.safeToRepeat;
}

function unknownSubject(caller: Caller, name: string): LedgerSubject {
  return ledgerSubject({ agent: caller.agent, chain: caller.chain, server: null, tool: name, decision: 'deny' });
}
