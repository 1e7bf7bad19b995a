import type { Clock, Logger, RandomBytes } from '../base/index.ts';
import type { ApprovalBook } from './approval-book.ts';
import type { ApprovalChange } from './approvals.ts';
import type { WaitingCalls } from './asking/waiting-calls.ts';
import type { DecisionCounts } from './decision-counts.ts';
import type { CallApproval } from './model/call-approval.ts';
import type { DecidingRules } from './model/who-decides.ts';

/** How long a question stays open, and an approved call may come after the decision; and who decides. */
export interface ApprovalOptions extends DecidingRules {
  readonly expiresMs: number;
}

export interface ApprovalParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly book: ApprovalBook;
  readonly waiting: WaitingCalls;
  readonly counts: DecisionCounts;
  /** Questions that are about to be stored, by call. */
  readonly opening: Map<string, OpeningApproval>;
  /** Grants that calls are about to claim, and how many calls. */
  readonly reserved: Map<string, number>;
  rules(): ApprovalOptions;
  /** Called after each stored change. */
  onChange(change: ApprovalChange): void;
}

export interface OpeningApproval {
  /** The agent that delegated first. */
  readonly origin: string;
  readonly stored: Promise<CallApproval>;
}

/** Bounds. A person decides on few questions, and an agent that is refused must not fill the disk with them. */
export const approvalLimits = {
  openPerAgent: 10,
  open: 200,
  /** Further calls get the answer "pending" at once. */
  waitingPerAgent: 32,
  waiting: 1000,
  /** Longer arguments nobody could judge. */
  argumentsLength: 64 * 1024,
  /** Ended approvals that are kept. */
  ended: 10_000,
  endedMs: 30 * 24 * 60 * 60_000,
  grants: 1000,
} as const;
