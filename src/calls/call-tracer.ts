import type { Outcome } from '../domain/index.ts';
import type { ConnectionFacts } from '../ledger/index.ts';

/** Follows calls for whoever wants traces. It is on the path of every call: it must neither wait nor throw. */
export interface CallTracer {
  /**
   * A call that came in at `at`, in Unix milliseconds. `meta` are the members of `_meta` that came with it; they may name
   * the span that it belongs to.
   */
  begin(at: number, method: string, meta: string): CallSpan;
}

/** One call in a trace, from its arrival to its end. */
export interface CallSpan {
  /** Members of `_meta` for the server: those of the caller, with this span in the place of its own. */
  readonly meta: string;
  /** The same for a server behind HTTP: names and values of headers, in turn. */
  readonly headers: readonly string[];
  end(facts: CallFacts): void;
}

/** What a trace may know of a call: neither arguments nor results, and no secrets. */
export interface CallFacts {
  readonly callId: string;
  readonly run: string;
  readonly agent: string;
  /** The name or URI that the agent used. */
  readonly name: string;
  /** Undefined when the agent has nothing of that name. */
  readonly server: string | undefined;
  /** By the server's own word, as the ledger says it. */
  readonly tool: string;
  readonly decision: string;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly error: string | undefined;
  /** Undefined when no connection carried the call. */
  readonly connection: ConnectionFacts | undefined;
  readonly httpStatus: number | undefined;
  readonly retries: number | undefined;
  /** Answered by what was kept of an earlier call. */
  readonly cached: boolean;
}
