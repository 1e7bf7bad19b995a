import type { Outcome } from '../../domain/index.ts';
import type { ConnectionRecord } from '../../ledger/index.ts';

/** Traces calls. It is on the path of every call, so it must neither wait nor throw. */
export interface CallTracer {
  /**
   * Begins a call that arrived at `at`, in Unix milliseconds. `meta` holds the members of its `_meta`, which may name
   * its parent span.
   */
  begin(at: number, method: string, meta: string): CallSpan;
}

/** One call in a trace, from its arrival to its end. */
export interface CallSpan {
  /** Members of `_meta` for the server: the caller's, with this span as the parent. */
  readonly meta: string;
  /** The same for an HTTP server: header names and values alternate. */
  readonly headers: readonly string[];
  end(facts: CallFacts): void;
}

/** The facts of a call that a trace may contain: no arguments, no results, no secrets. */
export interface CallFacts {
  readonly callId: string;
  readonly run: string;
  readonly agent: string;
  /** The name or URI that the agent used. */
  readonly name: string;
  /** Undefined when the agent has nothing of that name. */
  readonly server: string | undefined;
  /** The server's own name, as in the ledger. */
  readonly tool: string;
  readonly decision: string;
  /** The deciding rule or setting with its `file:line`. Null if no rule matched. */
  readonly rule: string | null;
  readonly ruleSource: string | null;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly error: string | undefined;
  /** Undefined when no connection carried the call. */
  readonly connection: ConnectionRecord | undefined;
  readonly httpStatus: number | undefined;
  readonly retries: number | undefined;
  /** Answered from the cache. */
  readonly cached: boolean;
}
