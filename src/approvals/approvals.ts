import type { ApprovalKind, ApprovalRequest, Approver, CallApproval } from './model/call-approval.ts';
import type { CallBinding } from './model/call-binding.ts';
import type { CallClaim, Denial } from './model/decide-approval.ts';
import type { GrantTerms, StandingGrant } from './model/standing-grant.ts';

/** Approvals of held calls: for the path of a call on one side, for people on the other. */
export interface Approvals extends CallApprovals, ApprovalDecisions {
  /** Ends every wait; the questions stay open. */
  close(): Promise<void>;
}

/** For the path of a call. */
export interface CallApprovals {
  /** Finds a grant for the call, or asks a person and waits. Throws HubError if nobody can be asked. */
  ask(call: CallBinding, question: ApprovalRequest, wait: ApprovalWait): Promise<AskOutcome>;
  /**
   * Takes the grant for one call, for good, before the call is recorded as sent. Throws HubError if the grant does not
   * fit the call any more.
   */
  claim(hold: GrantHold, call: string, binding: CallBinding): Promise<ClaimedGrant>;
  /** The call was not sent, and the grant is free for the next equal call. */
  release(claimed: ClaimedGrant): Promise<void>;
  /** The call was sent and has ended. */
  ended(claimed: ClaimedGrant, outcome: string): void;
}

export interface ApprovalWait {
  readonly ms: number;
  /** Ends the wait; the question stays open. */
  readonly signal: AbortSignal;
  /** Somebody was asked. */
  onAsked?(approval: CallApproval): void;
}

export type AskOutcome =
  | { readonly kind: 'granted'; readonly hold: GrantHold }
  | { readonly kind: 'denied'; readonly approval: CallApproval }
  | { readonly kind: 'expired'; readonly approval: CallApproval }
  /** The wait is over, and the question is still open. */
  | { readonly kind: 'pending'; readonly approval: CallApproval };

/** A grant that this call alone may claim, until it lets go. */
export interface GrantHold {
  /** Of the approval, or of the standing grant. */
  readonly id: string;
  readonly by: Approver;
  letGo(): void;
}

export interface ClaimedGrant extends CallClaim {
  /** As the ledger names it. */
  readonly id: string;
  readonly by: Approver;
}

/** For people. Every method throws HubError if the decision is not possible. */
export interface ApprovalDecisions {
  /** The newest last. */
  list(): readonly CallApproval[];
  get(id: string): CallApproval;
  /** The same, if nobody has decided yet. */
  expectOpen(id: string): CallApproval;
  /** The state of it now. */
  stateOf(approval: CallApproval): ApprovalKind;
  /** The last call of the same tool that was approved before this one. */
  lastApproved(approval: CallApproval): CallApproval | undefined;
  grants(): readonly StandingGrant[];
  approve(id: string, by: Approver, terms?: GrantTerms): Promise<ApprovedCall>;
  /** A suggestion is approved once in its place. */
  deny(id: string, by: Approver, denial: Denial): Promise<CallApproval>;
  notNow(id: string, by: Approver): Promise<CallApproval>;
  /** For a call that may have run. */
  resolve(id: string, by: Approver, ran: boolean): Promise<CallApproval>;
  revoke(grant: string, by: Approver): Promise<StandingGrant>;
  readonly numbers: ApprovalStatistics;
}

export interface ApprovedCall {
  readonly approval: CallApproval;
  readonly grant?: StandingGrant;
}

/** For metrics. Counts since the hub started. */
export interface ApprovalStatistics {
  readonly open: number;
  readonly waiting: number;
  readonly decided: Readonly<Record<'approved' | 'denied' | 'expired' | 'void', number>>;
  /** How long people took to decide. */
  readonly decisionMs: {
    readonly sum: number;
    /** One class more than bounds. */
    readonly boundsMs: readonly number[];
    readonly counts: readonly number[];
  };
}

/** An event about one approval or grant. */
export type ApprovalChange =
  | { readonly type: 'approval.opened'; readonly approval: CallApproval }
  | { readonly type: 'approval.decided'; readonly approval: CallApproval }
  | { readonly type: 'approval.claimed'; readonly approval: CallApproval }
  | { readonly type: 'approval.closed'; readonly approval: CallApproval }
  | { readonly type: 'approval.seen'; readonly approval: CallApproval }
  | { readonly type: 'grant.created' | 'grant.revoked'; readonly grant: StandingGrant; readonly by: Approver };
