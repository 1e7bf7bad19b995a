import type { ApprovalParts } from './approval-parts.ts';
import { makeVoid } from './asking/ask-for-approval.ts';
import type { CallApproval } from './model/call-approval.ts';
import { spent, unsettled } from './model/decide-approval.ts';

/** How a call ended, by the ledger. */
export type ClaimOutcome =
  /** It was never sent, or has no record. */
  | { readonly kind: 'not-sent' }
  /** The ledger does not reach back that far. */
  | { readonly kind: 'unrecorded' }
  /** It was sent, and the hub ended before the answer. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'ended'; readonly outcome: string };

/** Asks the ledger about a call, by its id and the time when it claimed its approval. */
export type FateOf = (call: string, claimed: number) => Promise<ClaimOutcome>;

/** After a hub died: brings approvals that calls had claimed in line with the ledger. */
export async function recoverClaims(parts: ApprovalParts, fateOf: FateOf): Promise<void> {
  const { book, clock, logger } = parts;
  const claims = [...book.approvals.values()].filter(({ state }) => state.kind === 'claimed');
  for (const approval of claims) {
    const { state } = approval;
    if (state.kind !== 'claimed') continue;
    const fate = await fateOf(state.call, state.claimed);
    if (fate.kind === 'not-sent')
      await makeVoid(parts, approval, 'the hub ended before the call was sent; it did not run');
    else if (fate.kind === 'ended') {
      await settle(parts, approval, (current) => spent(current, clock.now(), fate.outcome));
    } else await settle(parts, approval, unsettled);
    logger.info('approvals.claim-recovered', { approval: approval.id, call: state.call, fate: fate.kind });
  }
}

async function settle(
  { book, onChange }: ApprovalParts,
  { id }: CallApproval,
  make: (current: CallApproval) => CallApproval | undefined,
): Promise<void> {
  const approval = await book.change(id, make);
  if (approval !== undefined) onChange({ type: 'approval.closed', approval });
}
