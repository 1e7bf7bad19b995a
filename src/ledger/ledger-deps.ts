import type { Clock, Logger } from '../base/index.ts';
import type { ArgumentBudget } from './records/argument-budget.ts';
import type { Redact } from './records/redact.ts';

export interface LedgerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: Redact;
  readonly argumentBudget: ArgumentBudget;
  /** Aborted when the ledger is closed. */
  readonly closing: AbortController;
  /** Recreates the folder above the journal after it was deleted. */
  readonly restoreFolder?: (() => Promise<void>) | undefined;
}
