import type { ToolClass } from '../../domain/index.ts';
import type { CallBinding } from './call-binding.ts';

/** A question to a person: may this call run, once? */
export interface CallApproval {
  readonly id: string;
  /** Grows with each change, so that of two changes at once one wins. */
  readonly version: number;
  /** Identifies the call, also after its arguments were dropped. */
  readonly callKey: string;
  readonly binding: CallBinding;
  readonly question: ApprovalRequest;
  /** Milliseconds since the epoch. */
  readonly opened: number;
  /** When nobody needs to decide any more. */
  readonly expires: number;
  /** Who looked and decided nothing; the newest last. */
  readonly seen: readonly Seen[];
  readonly state: ApprovalState;
}

/** What a person needs to know besides the call itself. */
export interface ApprovalRequest {
  /** The ledger's run id. */
  readonly runId: string;
  /** The rule or setting that asks, and where it is written. */
  readonly rule: string | null;
  readonly ruleSource: string | null;
  /** What the author of the rule tells the person who is asked. */
  readonly message?: string;
  /** Who may approve. Undefined: anybody who may decide at all. */
  readonly approvers?: readonly string[];
  readonly toolClass: ToolClass;
  /** Who is behind the call: the person who started it, or who issued its token. */
  readonly asker: string;
}

export interface Seen {
  readonly by: Approver;
  readonly at: number;
}

/** Who decided. */
export interface Approver {
  readonly name: string;
  /** `terminal`: a person at a terminal; `command`: a program without one; `api`: the admin token; `page`: a one-time link. */
  readonly via: 'terminal' | 'command' | 'api' | 'page';
}

/** open → approved | denied | expired | void; approved → claimed → spent | unknown → closed */
export type ApprovalState =
  | { readonly kind: 'open' }
  /** May be claimed until then. */
  | ({ readonly kind: 'approved'; readonly until: number } & DecidedBy)
  | ({
      readonly kind: 'denied';
      readonly until: number;
      readonly reason?: string;
      readonly suggestion?: string;
    } & DecidedBy)
  | { readonly kind: 'expired'; readonly at: number }
  | { readonly kind: 'void'; readonly at: number; readonly why: string }
  /** One call has it. Whether that call was sent is in the ledger. */
  | ({ readonly kind: 'claimed' } & Claim)
  | ({ readonly kind: 'spent'; readonly ended: number; readonly outcome: string } & Claim)
  /** The call was sent, and the hub ended before it was answered: it may have run. */
  | ({ readonly kind: 'unknown' } & Claim)
  | ({ readonly kind: 'closed'; readonly ran: boolean; readonly closedBy: Approver; readonly closed: number } & Claim);

interface DecidedBy {
  readonly by: Approver;
  readonly at: number;
}

interface Claim extends DecidedBy {
  /** The ledger's id of the call, and a number that only this claim has. */
  readonly call: string;
  readonly nonce: string;
  readonly claimed: number;
}

export type ApprovalKind = ApprovalState['kind'];

/** Nothing more happens to it. */
export function isFinal({ state }: CallApproval): boolean {
  return finalKinds.has(state.kind);
}

const finalKinds: ReadonlySet<ApprovalKind> = new Set<ApprovalKind>(['denied', 'expired', 'void', 'spent', 'closed']);

/** When it reached its state. */
export function changedAt({ state, opened }: CallApproval): number {
  switch (state.kind) {
    case 'open':
      return opened;
    case 'claimed':
    case 'unknown':
      return state.claimed;
    case 'spent':
      return state.ended;
    case 'closed':
      return state.closed;
    default:
      return state.at;
  }
}
