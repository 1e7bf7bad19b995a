import { type Decision, ruleOf, ruleSourceOf } from '../../domain/index.ts';
import type { CallEnd, OpenCall, Redact } from '../../ledger/index.ts';
import type { Connection } from '../../upstream/index.ts';
import type { CallRequest } from '../call.ts';
import { wordFor } from '../look-up.ts';
import { methods, type Target } from '../target.ts';
import type { CallSpan, CallTracer } from './call-tracer.ts';

/** The spans of calls in flight, by their ledger records. */
export interface TracedCalls {
  /** `at` is the arrival time in Unix milliseconds. */
  begin(record: OpenCall, request: CallRequest, at: number): void;
  /** The trace context for the server, once the connection is known. */
  sent(record: OpenCall, connection: Connection): CallSpan | undefined;
  /** `decision` is given if the decision on this call differs from the target's. */
  end(record: OpenCall, target: Target | undefined, end: CallEnd, decision?: Decision): void;
}

interface TracedCall {
  readonly span: CallSpan;
  readonly request: CallRequest;
  connection: Connection | undefined;
}

/** Redacts secrets before they reach a span, as for the ledger. */
export function createTracedCalls(tracer: CallTracer, redact: Redact): TracedCalls {
  const calls = new WeakMap<OpenCall, TracedCall>();
  return {
    begin(record, request, at) {
      calls.set(record, {
        span: tracer.begin(at, methods[request.kind], request.meta),
        request,
        connection: undefined,
      });
    },
    sent(record, connection) {
      const call = calls.get(record);
      if (call !== undefined) call.connection = connection;
      return call?.span;
    },
    end(record, target, end, decision = target?.decision) {
      const call = calls.get(record);
      if (call === undefined) return;
      calls.delete(record);
      const { kind, name, caller } = call.request;
      // The server chose the name of a tool that the agent has. Any other name may be arbitrary text of the caller.
      const redacted = (word: string): string =>
        target !== undefined && kind === 'tool' ? word : redact.message(word, longestName);
      call.span.end({
        callId: record.id,
        run: record.run,
        agent: caller.agent,
        name: redacted(name),
        server: target?.server,
        tool: redacted(target?.subjectName ?? wordFor(kind, name)),
        decision: decision?.effect ?? 'deny',
        rule: decision === undefined ? null : ruleOf(decision),
        ruleSource: decision === undefined ? null : ruleSourceOf(decision),
        outcome: end.outcome,
        durationMs: end.durationMs,
        error: end.error === undefined ? undefined : redact.message(end.error, longestError),
        connection: call.connection,
        httpStatus: end.httpStatus,
        retries: end.retries,
        cached: end.cached === true,
      });
    },
  };
}

/** An unknown name is the caller's own text and may be very long. */
const longestName = 500;
const longestError = 4000;
