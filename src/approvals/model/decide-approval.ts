import { HubError } from '../../base/index.ts';
import type { ApprovalState, Approver, CallApproval } from './call-approval.ts';

/** Pure transitions. Each returns the next version, or throws HubError if the state does not allow it. */
export interface Act {
  readonly by: Approver;
  readonly now: number;
}

/** An approved call may come that much later. */
export function approved(approval: CallApproval, { by, now }: Act, validMs: number): CallApproval {
  expectOpen(approval, now);
  return next(approval, { kind: 'approved', by, at: now, until: now + validMs });
}

/** A standing grant was given in its place. */
export function approvedAsGrant(approval: CallApproval, { by, now }: Act, grant: string): CallApproval {
  expectOpen(approval, now);
  const claim = { call: '', nonce: '', claimed: now };
  return next(approval, { kind: 'spent', by, at: now, ...claim, ended: now, outcome: `grant ${grant}` });
}

export interface Denial {
  readonly reason?: string;
  /** Arguments that would be allowed, as JSON text. */
  readonly suggestion?: string;
}

export function denied(approval: CallApproval, { by, now }: Act, denial: Denial): CallApproval {
  expectOpen(approval, now);
  return next(approval, { kind: 'denied', by, at: now, until: Math.max(approval.expires, now), ...denial });
}

/** Somebody looked and decides later, or leaves it to others. */
export function lookedAt(approval: CallApproval, { by, now }: Act): CallApproval {
  expectOpen(approval, now);
  return { ...approval, version: approval.version + 1, seen: [...approval.seen, { by, at: now }].slice(-mostSeen) };
}

const mostSeen = 10;

export function expired(approval: CallApproval, now: number): CallApproval {
  return next(approval, { kind: 'expired', at: now });
}

export function voided(approval: CallApproval, now: number, why: string): CallApproval {
  return next(approval, { kind: 'void', at: now, why });
}

export interface CallClaim {
  /** The ledger's id of the call. */
  readonly call: string;
  readonly nonce: string;
}

/** Undefined if it cannot be claimed any more. */
export function claimed(approval: CallApproval, { call, nonce }: CallClaim, now: number): CallApproval | undefined {
  const { state } = approval;
  if (state.kind !== 'approved' || now >= state.until) return undefined;
  const { by, at } = state;
  return next(approval, { kind: 'claimed', by, at, call, nonce, claimed: now });
}

/** The call that claimed it has ended. */
export function spent(approval: CallApproval, now: number, outcome: string): CallApproval | undefined {
  const { state } = approval;
  if (state.kind !== 'claimed') return undefined;
  return next(approval, { ...state, kind: 'spent', ended: now, outcome });
}

/** The call that claimed it was certainly not sent. */
export function released(approval: CallApproval, nonce: string, until: number): CallApproval | undefined {
  const { state } = approval;
  if (state.kind !== 'claimed' || state.nonce !== nonce) return undefined;
  const { by, at } = state;
  return next(approval, { kind: 'approved', by, at, until });
}

/** The call that claimed it was sent, and nobody knows how it ended. */
export function unsettled(approval: CallApproval): CallApproval | undefined {
  const { state } = approval;
  return state.kind === 'claimed' ? next(approval, { ...state, kind: 'unknown' }) : undefined;
}

export function resolved(approval: CallApproval, { by, now }: Act, ran: boolean): CallApproval {
  const { state } = approval;
  if (state.kind === 'unknown') return next(approval, { ...state, kind: 'closed', ran, closedBy: by, closed: now });
  throw new HubError(
    'APPROVAL_DECIDED',
    `Approval ${approval.id} needs no resolution: it is ${stateWords(approval, now)}.`,
    {
      hint: 'Only calls that may have run are resolved; `qm approvals ls --all` shows their state as unknown.',
    },
  );
}

/** The state as it is now: nobody may have noticed yet that its time is over. */
export function kindAt({ state, expires }: CallApproval, now: number): ApprovalState['kind'] {
  if (state.kind === 'open' && now >= expires) return 'expired';
  return state.kind === 'approved' && now >= state.until ? 'expired' : state.kind;
}

/** Throws HubError if somebody has decided, or the time is over. */
export function expectOpen(approval: CallApproval, now: number): void {
  if (kindAt(approval, now) === 'open') return;
  throw new HubError(
    'APPROVAL_DECIDED',
    `Approval ${approval.id} is no longer open: it is ${stateWords(approval, now)}.`,
    {
      hint: 'Nothing was changed. `qm approvals ls` shows what is open.',
    },
  );
}

/** For people: the state, and who brought it about. */
export function stateWords(approval: CallApproval, now: number): string {
  const { state } = approval;
  const kind = kindAt(approval, now);
  if (kind === 'expired') return 'expired';
  if (state.kind === 'approved' || state.kind === 'denied') return `${state.kind} by ${state.by.name}`;
  if (state.kind === 'claimed' || state.kind === 'spent') return `approved by ${state.by.name} and used`;
  if (state.kind === 'closed') return `closed by ${state.closedBy.name}`;
  return state.kind === 'void' ? `void (${state.why})` : kind;
}

/** Arguments of an ended approval beyond this are dropped. */
export const keptArguments = 1024;

function next(approval: CallApproval, state: ApprovalState): CallApproval {
  const { binding } = approval;
  const isLong = binding.arguments.length > keptArguments || binding.inputs.length > keptArguments;
  const isOver = ['denied', 'expired', 'void', 'spent', 'closed'].includes(state.kind);
  return {
    ...approval,
    version: approval.version + 1,
    state,
    ...(isOver && isLong ? { binding: { ...binding, arguments: '', inputs: '' } } : {}),
  };
}
