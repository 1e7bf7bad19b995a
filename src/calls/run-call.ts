import { type Clock, type HubError, isJsonObject, type LinkedList, toHubError } from '../base/index.ts';
import {
  type CallEnd,
  type Ledger,
  type LedgerConnection,
  type LedgerSubject,
  ledgerConnection,
  type OpenCall,
} from '../ledger/index.ts';
import type { TaskIds } from '../mcp/index.ts';
import type { Link, UpstreamDispatch, WireError, WireFailure, WireReply, WireResult } from '../upstream/index.ts';
import { forCaller } from './away.ts';
import type { Call, CallResult } from './call.ts';
import type { CallMeter } from './call-meter.ts';
import { createCallRates } from './call-rates.ts';
import { exposedError, exposedResult } from './exposed-result.ts';
import { collectInputs, isInputRequired, maxRounds, questionsIn, tooManyRounds } from './input-rounds.ts';
import { lookUp, missing, unknownSubject } from './look-up.ts';
import { lookUpLater } from './look-up-later.ts';
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
import type { RefusedCalls } from './refused-calls.ts';
import { seatOf } from './seat.ts';
import { isStatusCall, statusResult, statusSubject } from './status-tool.ts';
import { carriedCapabilities, carriedMeta, membersOf, type Target } from './target.ts';
import { withExposedTask } from './tasks.ts';
import type { TracedCalls } from './traced-calls.ts';
import type { Views } from './views.ts';
import { watchResource } from './watch-resource.ts';

/**
 * THE path of a call. Nothing reaches an upstream server on behalf of a caller but through here:
 *
 *   look up → decide → check arguments → enter → connect → take rate → journal "sent" → upstream → journal "done"
 *
 * The face has authenticated the caller. Every exit before "sent" is journaled as refused, but for an answer that was
 * kept of an earlier call.
 */
export function createCallPath(deps: CallPathDeps): (call: Call) => Promise<CallResult> {
  const { clock, ledger, views, taskIds, refused, meter, traced } = deps;
  const factsOf = createConnectionFacts();
  const rates = createCallRates();

  return async function runCall(call) {
    const { caller } = call.request;
    const startedAt = clock.monotonic();
    let entered: UpstreamDispatch | undefined;
    let link: Link | undefined;
    let target: Target | undefined;
    let record: OpenCall | undefined;
    deps.underWay.add(call);
    try {
      target = lookUp(views.of(caller.chain), call.request, taskIds) ?? (await lookUpLater(call, views, taskIds));
      if (target === undefined) return answerMissing(call, startedAt);
      const objection = objectionTo(call, target);
      if (objection !== undefined) return refuseAtOnce(call, target, startedAt, objection);
      record = open(call, target.subject, startedAt);
      const kept = target.keeping?.find(target, call.request);
      if (kept !== undefined) return await answerKept(call, target, record, startedAt, kept);

      try {
        const { seats } = target.dispatch;
        const dispatch = seats === undefined ? target.dispatch : seats.at(seatOf(call.request));
        if (!dispatch.enter()) return refuse(call, target, record, startedAt, tooManyCalls(target));
        entered = dispatch;
        link = dispatch.link ?? (await call.waitFor(dispatch.connect()));
        if (link.lane !== undefined) await call.waitFor(link.lane.enter(call, call.request.client?.session));
        const level = call.request.channel?.log?.level;
        if (level !== undefined) await link.log?.want(level);
        if (call.cancelled !== undefined) throw call.cancelled;
        const { ratePerMin } = target.control.spec.limits;
        // Last of all: what the server never sees costs nothing, and the minute is that of the sending.
        if (ratePerMin !== undefined) await takeRate(target, ratePerMin);
        await ledger.sent(record, factsOf(link));
      } catch (error) {
        const known = toHubError(error);
        return refuse(call, target, record, startedAt, known, forCaller(known, target, clock.now()));
      }
      let reply =
        call.cancelled === undefined ? await send(call, target, entered, link, record) : unsent(call.cancelled);
      if (isInputRequired(reply)) reply = await answerQuestions(call, target, entered, link, record, reply);
      if (reply.kind !== 'failed' || !mayRepeat(call, target, reply)) {
        return conclude(call, target, record, startedAt, reply, 0);
      }
      entered.reportLoss(link, reply);
      return await repeat(call, target, entered, record, startedAt, reply);
    } catch (error) {
      // A defect; even so the call has an end on the ledger.
      if (record !== undefined) closeRecord(target, record, endOf(toHubError(error), startedAt));
      throw error;
    } finally {
      link?.lane?.leave(call);
      entered?.leave();
      deps.underWay.delete(call);
      call.ended();
    }
  };

  /** Every call begins here on the ledger and, where they are wanted, in the traces. */
  function open(call: Call, subject: LedgerSubject, startedAt: number): OpenCall {
    const { caller, argumentsText } = call.request;
    const record = ledger.open(subject, caller.run, argumentsText);
    traced?.begin(record, call.request, clock.now() - clock.monotonic() + startedAt);
    return record;
  }

  /** Of what no server of the agent has, one tool is the hub's own: it says which servers are missing. */
  function answerMissing(call: Call, startedAt: number): CallResult {
    const { request, cancelled } = call;
    const view = views.of(request.caller.chain);
    if (!isStatusCall(request) || deps.isStopping()) {
      const error = deps.isStopping() ? stopping() : missing(view, request, taskIds, clock.now());
      return refuseAtOnce(call, undefined, startedAt, cancelled ?? error);
    }
    const end: CallEnd = { outcome: 'ok', durationMs: clock.monotonic() - startedAt };
    if (refused.isRecorded(request.caller, end.outcome)) {
      const record = open(call, statusSubject(request.caller), startedAt);
      ledger.done(record, end);
      traced?.end(record, undefined, end);
    }
    return { kind: 'result', result: statusResult(view) };
  }

  /** No server is asked, so nothing is sent; the record is there before the answer all the same. */
  async function answerKept(
    call: Call,
    target: Target,
    record: OpenCall,
    startedAt: number,
    kept: WireResult,
  ): Promise<CallResult> {
    const result = inWordsOf(call, target, kept);
    const end: CallEnd = { outcome: 'ok', durationMs: clock.monotonic() - startedAt, cached: true };
    try {
      await ledger.cached(record, end);
    } catch (error) {
      return refuse(call, target, record, startedAt, toHubError(error));
    }
    meter?.cached(target);
    traced?.end(record, target, end);
    return { kind: 'result', result };
  }

  function objectionTo(call: Call, target: Target): HubError | undefined {
    if (deps.isStopping()) return stopping();
    if (target.decision.effect === 'ask') return approvalNeeded(target);
    if (!isJsonObject(call.request.args)) return badArguments(target);
    return call.cancelled;
  }

  async function takeRate(target: Target, perMinute: number): Promise<void> {
    const waitMs = await rates.take(target.server, perMinute);
    if (waitMs > 0) throw rateLimited(target, perMinute, waitMs);
  }

  /** Once more over a new connection; if there is none, what happened to the first attempt is the answer. */
  async function repeat(
    call: Call,
    target: Target,
    dispatch: UpstreamDispatch,
    record: OpenCall,
    startedAt: number,
    first: WireFailure,
  ): Promise<CallResult> {
    let link: Link | undefined;
    try {
      try {
        link = dispatch.link ?? (await call.waitFor(dispatch.connect()));
        if (link.lane !== undefined) await call.waitFor(link.lane.enter(call, call.request.client?.session));
      } catch {
        return conclude(call, target, record, startedAt, first, 0);
      }
      if (call.cancelled !== undefined) return conclude(call, target, record, startedAt, first, 0);
      let reply = await send(call, target, dispatch, link, record);
      if (isInputRequired(reply)) reply = await answerQuestions(call, target, dispatch, link, record, reply);
      return conclude(call, target, record, startedAt, reply, 1);
    } finally {
      link?.lane?.leave(call);
    }
  }

  /** A caller that comes again with the answers gets the questions as its result; another is asked while it waits. */
  async function answerQuestions(
    call: Call,
    target: Target,
    dispatch: UpstreamDispatch,
    link: Link,
    record: OpenCall,
    first: WireReply,
  ): Promise<WireReply> {
    let reply = first;
    for (let round = 1; isInputRequired(reply); round++) {
      try {
        if (round > maxRounds) throw tooManyRounds(target);
        const asked = questionsIn(call, target, reply);
        if (call.request.client?.takesRounds === true) return reply;
        const inputs = await call.waitFor(collectInputs(call, target, asked, reply.value.requestState));
        reply = await send(call, target, dispatch, link, record, inputs);
      } catch (error) {
        return { kind: 'failed', error: toHubError(error), cause: 'answer', sent: true, httpStatus: undefined };
      }
    }
    return reply;
  }

  function send(
    call: Call,
    target: Target,
    dispatch: UpstreamDispatch,
    link: Link,
    record: OpenCall,
    inputs = '',
  ): Promise<WireReply> {
    const { request } = call;
    const { limits } = target.control.spec;
    const answers = inputs === '' ? (request.inputs ?? '') : inputs;
    const span = traced?.sent(record, link);
    const wire =
      target.kind === 'subscription'
        ? watchResource(dispatch, link, target.ownName, request.watch)
        : link.send({
            method: target.method,
            members: membersOf(target, request.argumentsText, answers),
            meta: carriedMeta(request, span, link, record.id),
            headers: span?.headers,
            name: target.ownName,
            mirrored: target.mirrored,
            args: request.args,
            timeoutMs: limits.timeoutMs,
            maxMs: limits.maxMs,
            capabilities: carriedCapabilities(request, target),
            hearing: request.channel === undefined ? undefined : call,
          });
    call.wasSent(wire);
    return target.keeping === undefined ? wire.reply : target.keeping.follow(target, call, answers, wire.reply);
  }

  function conclude(
    call: Call,
    target: Target,
    record: OpenCall,
    startedAt: number,
    answer: WireReply,
    retries: number,
  ): CallResult {
    const reply = target.tasks ? withExposedTask(call.request, target, taskIds, answer) : answer;
    const durationMs = clock.monotonic() - startedAt;
    switch (reply.kind) {
      case 'result': {
        const { resultType, isError } = reply.value;
        if (resultType === 'input_required')
          closeRecord(target, record, { outcome: 'input_required', durationMs, retries });
        else if (resultType === 'task' && target.tasks)
          closeRecord(target, record, { outcome: 'task', durationMs, retries });
        else if (resultType !== undefined && resultType !== 'complete') {
          return conclude(call, target, record, startedAt, unknownResult(target, resultType), retries);
        } else if (isError === true)
          closeRecord(target, record, { outcome: 'tool_error', durationMs, error: toolError(reply.value), retries });
        else closeRecord(target, record, { outcome: 'ok', durationMs, retries });
        return { kind: 'result', result: target.kind === 'tool' ? reply : inWordsOf(call, target, reply) };
      }
      case 'error':
        closeRecord(target, record, { outcome: 'upstream_error', durationMs, error: reply.message, retries });
        return inWordsOfError(target, reply);
      case 'failed': {
        const { error, httpStatus } = reply;
        const outcome = outcomeOf(error.code);
        const http = httpStatus === undefined ? {} : { httpStatus };
        closeRecord(target, record, { outcome, durationMs, error: error.message, retries, ...http });
        return { kind: 'failed', error: forCaller(error, target, clock.now()) };
      }
    }
  }

  function inWordsOf({ request }: Call, target: Target, result: WireResult): WireResult {
    return exposedResult(views.of(request.caller.chain), target, request.args, result);
  }

  /** Before anything was written down of it; one of too many costs next to nothing. */
  function refuseAtOnce(call: Call, target: Target | undefined, startedAt: number, error: HubError): CallResult {
    const end = endOf(error, startedAt);
    const isRecorded = refused.isRecorded(call.request.caller, end.outcome);
    if (isRecorded || traced !== undefined) {
      const record = open(call, target?.subject ?? unknownSubject(call.request), startedAt);
      closeRecord(target, record, end, isRecorded);
    } else meter?.refused(target, end.outcome);
    return { kind: 'failed', error };
  }

  /** The ledger has what happened; what the caller is told may say more. */
  function refuse(
    { request: { caller } }: Call,
    target: Target,
    record: OpenCall,
    startedAt: number,
    error: HubError,
    told = error,
  ): CallResult {
    const end = endOf(error, startedAt);
    closeRecord(target, record, end, refused.isRecorded(caller, end.outcome));
    return { kind: 'failed', error: told };
  }

  /** Every call ends here, on the ledger, in the numbers and in the traces, and only once. */
  function closeRecord(target: Target | undefined, record: OpenCall, end: CallEnd, isRecorded = true): void {
    const { stage } = record;
    if (stage === 'ended') return;
    // What was not sent is a refusal to the ledger, too.
    if (isRecorded) ledger.done(record, end);
    else ledger.drop(record);
    if (stage === 'sent' && target !== undefined) meter?.ended(target, end.outcome, end.durationMs);
    else meter?.refused(target, end.outcome);
    traced?.end(record, target, end);
  }

  function endOf(error: HubError, startedAt: number): CallEnd {
    return { outcome: outcomeOf(error.code), durationMs: clock.monotonic() - startedAt, error: error.message };
  }
}

export interface CallPathDeps {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly views: Views;
  readonly taskIds: TaskIds;
  readonly refused: RefusedCalls;
  /** Calls that have not ended; the hub waits for them when it stops. */
  readonly underWay: LinkedList<Call>;
  readonly meter?: CallMeter | undefined;
  readonly traced?: TracedCalls | undefined;
  isStopping(): boolean;
}

/** Repeating is safe when nothing was sent, or when the server itself says that it only reads. */
function mayRepeat(call: Call, target: Target, reply: WireFailure): boolean {
  if (call.cancelled !== undefined || (reply.cause !== 'connection' && reply.cause !== 'session')) return false;
  return !reply.sent || target.safeToRepeat;
}

/** The ledger's text for each connection, made once. */
function createConnectionFacts(): (link: Link) => LedgerConnection {
  const known = new WeakMap<Link, LedgerConnection>();
  return (link) => {
    let facts = known.get(link);
    if (facts === undefined) {
      facts = ledgerConnection(link);
      known.set(link, facts);
    }
    return facts;
  };
}

function inWordsOfError(target: Target, reply: WireError): CallResult {
  const error = exposedError(target, reply);
  return error === undefined ? reply : { kind: 'failed', error };
}
