import { createId, HubError } from '../base/index.ts';
import { inBackground } from './approval-book.ts';
import type { ApprovalParts } from './approval-parts.ts';
import type { ClaimedGrant, GrantHold } from './approvals.ts';
import { makeVoid } from './asking/ask-for-approval.ts';
import type { CallApproval } from './model/call-approval.ts';
import { type CallBinding, callKeyOf, changedConditions } from './model/call-binding.ts';
import { claimed, released, spent } from './model/decide-approval.ts';
import { covers } from './model/standing-grant.ts';

/** Stored before the call is recorded as sent, so that no second call can have it, whatever becomes of the hub. */
export async function claimGrant(
  parts: ApprovalParts,
  hold: GrantHold,
  call: string,
  binding: CallBinding,
): Promise<ClaimedGrant> {
  const nonce = createId(parts.random, nonceLength);
  const claim = { id: hold.id, by: hold.by, call, nonce };
  try {
    if (parts.book.grants.has(hold.id)) await useGrant(parts, hold.id, binding);
    else await claimApproval(parts, claim, binding);
    return claim;
  } finally {
    hold.letGo();
  }
}

const nonceLength = 16;

async function useGrant({ book, clock }: ApprovalParts, id: string, binding: CallBinding): Promise<void> {
  await book.changeGrant(id, (grant) => {
    if (!covers(grant, binding, clock.now())) throw gone(binding, `grant ${id} does not cover the call any more`);
    return { ...grant, version: grant.version + 1, used: grant.used + 1 };
  });
}

async function claimApproval(parts: ApprovalParts, claim: ClaimedGrant, binding: CallBinding): Promise<void> {
  const { book, clock } = parts;
  const { id, nonce } = claim;
  const approval = book.approvals.get(id);
  const changed = approval === undefined ? ['the approval'] : changedConditions(approval.binding, binding);
  if (approval === undefined || approval.callKey !== callKeyOf(binding) || changed.length > 0) {
    const why = `${changed.join(' and ') || 'the call'} changed`;
    if (approval !== undefined) await makeVoid(parts, approval, why);
    throw gone(binding, why);
  }
  let taken: CallApproval | undefined;
  try {
    taken = await book.change(id, (current) => claimed(current, claim, clock.now()));
  } catch (error) {
    // Whether it was stored shows in the nonce, which nobody else has.
    const stored = await book.reread(id).catch(() => undefined);
    if (stored?.state.kind !== 'claimed' || stored.state.nonce !== nonce) throw error;
    taken = stored;
  }
  if (taken === undefined) throw gone(binding, `approval ${id} was used or is over`);
  parts.onChange({ type: 'approval.claimed', approval: taken });
}

/** The call was certainly not sent. A use of a standing grant stays counted: a counter never goes back. */
export async function releaseGrant({ book, clock, rules }: ApprovalParts, { id, nonce }: ClaimedGrant): Promise<void> {
  if (book.grants.has(id)) return;
  await book.change(id, (current) => released(current, nonce, clock.now() + rules().expiresMs));
}

export function grantEnded(parts: ApprovalParts, { id }: ClaimedGrant, outcome: string): void {
  const { book, clock, logger } = parts;
  if (book.grants.has(id)) return;
  inBackground(
    logger,
    book
      .change(id, (current) => spent(current, clock.now(), outcome))
      .then((approval) => {
        if (approval !== undefined) parts.onChange({ type: 'approval.closed', approval });
      }),
  );
}

function gone({ server, subject }: CallBinding, why: string): HubError {
  return new HubError('APPROVAL_REQUIRED', `${server}.${subject} was approved, and was not sent: ${why}.`, {
    hint: 'Call again to ask again.',
    details: { server, tool: subject },
  });
}
