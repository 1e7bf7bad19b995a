import type { JournalFile } from './journal/journal.ts';
import type { AdminEvent } from './records/admin-text.ts';
import type { CallParts, ConnectionRecord, LedgerConnection, LedgerSubject } from './records/call-text.ts';
import type { CallEnd } from './records/end-text.ts';

/** A call on its way through the ledger. Only the ledger changes it. */
export interface OpenCall extends CallParts {
  /** Another one after the call was decided on again. */
  subject: LedgerSubject;
  stage: 'open' | 'held' | 'sent' | 'ended';
  /** Empty until the call is recorded. */
  args: string;
  /** The arguments as they came; undefined once they are recorded for good. */
  raw: string | undefined;
  connection: LedgerConnection;
  /** The journal file with its `held` or `sent` record. */
  file: JournalFile | undefined;
}

export type LedgerHealth = 'good' | { readonly since: number; readonly reason: string };

export interface Ledger {
  /** Gives the call its id and start time; writes nothing. `argumentsText` must be valid JSON. */
  open(subject: LedgerSubject, run: string, argumentsText: string): OpenCall;
  /** Replaces the arguments of a call that has no record yet. */
  amend(call: OpenCall, argumentsText: string): void;
  /** The text for a connection, without secrets. Make it once for each: the server chooses the session id. */
  connection(facts: ConnectionRecord): LedgerConnection;
  /**
   * For a call that waits for a person's decision. Resolves like `sent`. A held call without a `sent` record did not run,
   * whatever becomes of the hub.
   */
  held(call: OpenCall): Promise<void>;
  /**
   * Resolves when the operating system has the record. All calls of one event loop turn share one write. Before a call is
   * sent again, over another connection, it is recorded again.
   */
  sent(call: OpenCall, connection: LedgerConnection): Promise<void>;
  done(call: OpenCall, end: CallEnd): void;
  /** For a call answered from the cache. Resolves like `sent`; the call stays open until then. */
  cached(call: OpenCall, end: CallEnd): Promise<void>;
  /** For a call that was never sent and gets no record. The caller of `drop` counts it. */
  drop(call: OpenCall): void;
  /** For a call that was never sent, held or not. */
  refused(call: OpenCall, end: CallEnd): void;
  /** Records an act that is no call. Resolves like `sent`. */
  admin(event: AdminEvent): Promise<void>;
  readonly health: LedgerHealth;
  /** Why run files lack lines that the journal has; undefined if they are complete. */
  readonly runFilesBehind: string | undefined;
  /** Resolves when the journal and the run files are up to date; rejects if they cannot be. */
  flush(): Promise<void>;
  /** Flushes, then accepts no more records. */
  close(): Promise<void>;
}
