import type { CallEnd, OpenCall, Redact } from '../ledger/index.ts';
import type { Link } from '../upstream/index.ts';
import type { CallRequest } from './call.ts';
import type { CallSpan, CallTracer } from './call-tracer.ts';
import { wordFor } from './look-up.ts';
import { methods, type Target } from './target.ts';

/** The spans of calls under way, by their records on the ledger. */
export interface TracedCalls {
  /** `at` is when the call came in, in Unix milliseconds. */
  begin(record: OpenCall, request: CallRequest, at: number): void;
  /** What the server is told, now that the call goes out over this link. */
  sent(record: OpenCall, link: Link): CallSpan | undefined;
  end(record: OpenCall, target: Target | undefined, end: CallEnd): void;
}

interface TracedCall {
  readonly span: CallSpan;
  readonly request: CallRequest;
  link: Link | undefined;
}

/** Secrets are taken out before a span hears of them, as for the ledger. */
export function createTracedCalls(tracer: CallTracer, redact: Redact): TracedCalls {
  const calls = new WeakMap<OpenCall, TracedCall>();
  return {
    begin(record, request, at) {
      calls.set(record, { span: tracer.begin(at, methods[request.kind], request.meta), request, link: undefined });
    },
    sent(record, link) {
      const call = calls.get(record);
      if (call !== undefined) call.link = link;
      return call?.span;
    },
    end(record, target, end) {
      const call = calls.get(record);
      if (call === undefined) return;
      calls.delete(record);
      const { kind, name, caller } = call.request;
      // A tool that the agent has is named by its server; anything else may be a text that somebody wrote.
      const told = (word: string): string =>
        target !== undefined && kind === 'tool' ? word : redact.message(word, longestName);
      call.span.end({
        callId: record.id,
        run: record.run,
        agent: caller.agent,
        name: told(name),
        server: target?.server,
        tool: told(target?.subjectName ?? wordFor(kind, name)),
        decision: target?.decision.effect ?? 'deny',
        outcome: end.outcome,
        durationMs: end.durationMs,
        error: end.error === undefined ? undefined : redact.message(end.error, longestError),
        connection: call.link,
        httpStatus: end.httpStatus,
        retries: end.retries,
        cached: end.cached === true,
      });
    },
  };
}

/** A name that nobody has is the caller's own text, and may be a book. */
const longestName = 500;
const longestError = 4000;
