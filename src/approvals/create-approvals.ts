import type { Clock, Logger, RandomBytes, Timer } from '../base/index.ts';
import { ApprovalBook, inBackground } from './approval-book.ts';
import { type ApprovalOptions, type ApprovalParts, approvalLimits } from './approval-parts.ts';
import type { ApprovalStore } from './approval-store.ts';
import type { ApprovalChange, Approvals } from './approvals.ts';
import { askForApproval, expire, makeVoid } from './asking/ask-for-approval.ts';
import { WaitingCalls } from './asking/waiting-calls.ts';
import { claimGrant, grantEnded, releaseGrant } from './claim-grant.ts';
import { Decisions } from './decide.ts';
import { DecisionCounts } from './decision-counts.ts';
import { changedAt, isFinal } from './model/call-approval.ts';
import { kindAt } from './model/decide-approval.ts';
import { isGrantAlive } from './model/standing-grant.ts';
import { type FateOf, recoverClaims } from './recover-claims.ts';

export interface ApprovalsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly store: ApprovalStore;
  readonly fateOf: FateOf;
  rules(): ApprovalOptions;
  onChange(change: ApprovalChange): void;
}

/** Reads what is stored, and brings it in line with the ledger before anybody can use it. */
export async function openApprovals(deps: ApprovalsDeps): Promise<Approvals> {
  const { clock, logger, random, store, fateOf, rules, onChange } = deps;
  const book = new ApprovalBook(store);
  const parts: ApprovalParts = {
    clock,
    logger,
    random,
    book,
    waiting: new WaitingCalls(clock),
    counts: new DecisionCounts(),
    opening: new Map(),
    reserved: new Map(),
    rules,
    onChange,
  };
  const { entries, isCurrent } = await store.load();
  for (const entry of entries) book.take(entry);
  await recoverClaims(parts, fateOf);
  if (!isCurrent) await voidAll(parts);
  await store.begin();
  await forget(parts);
  const sweeping = startSweep(parts);
  return Object.assign(new Decisions(parts), {
    ask: askForApproval.bind(undefined, parts),
    claim: claimGrant.bind(undefined, parts),
    release: releaseGrant.bind(undefined, parts),
    ended: grantEnded.bind(undefined, parts),
    async close() {
      sweeping.stop();
      parts.waiting.close();
      await store.close();
    },
  });
}

/** The stored decisions are of another state folder, or of the time before a backup was restored. */
async function voidAll(parts: ApprovalParts): Promise<void> {
  const { book, logger } = parts;
  let count = 0;
  for (const approval of book.approvals.values()) {
    if (approval.state.kind !== 'open' && approval.state.kind !== 'approved') continue;
    await makeVoid(parts, approval, 'the state of the hub was restored or replaced');
    count++;
  }
  const grants = [...book.grants.keys()];
  await book.remove(grants);
  if (count + grants.length > 0) logger.warn('approvals.voided', { approvals: count, grants: grants.length });
}

/** Drops what ended long ago. */
async function forget({ book, clock }: ApprovalParts): Promise<void> {
  const now = clock.now();
  const ended = [...book.approvals.values()].filter(isFinal).sort((a, b) => changedAt(b) - changedAt(a));
  const old = ended.filter((approval, index) => {
    const remembersDenial = approval.state.kind === 'denied' && now < approval.state.until;
    return !remembersDenial && (index >= approvalLimits.ended || changedAt(approval) + approvalLimits.endedMs < now);
  });
  const grants = [...book.grants.values()].filter((grant) => !isGrantAlive(grant, now));
  await book.remove([...old, ...grants].map(({ id }) => id));
}

/** Ends questions whose time is over, also if no call waits for them. */
function startSweep(parts: ApprovalParts): { stop(): void } {
  const { clock, logger, book } = parts;
  let timer: Timer;
  let isStopped = false;
  async function sweep(): Promise<void> {
    for (const approval of [...book.approvals.values()]) {
      const isDue = kindAt(approval, clock.now()) === 'expired' && approval.state.kind !== 'expired';
      if (isDue) await expire(parts, approval);
    }
    await forget(parts);
  }
  function later(): void {
    if (isStopped) return;
    timer = clock.setTimer(sweepMs, () => inBackground(logger, sweep().finally(later)));
    timer.unref?.();
  }
  later();
  return {
    stop() {
      isStopped = true;
      timer.cancel();
    },
  };
}

const sweepMs = 30_000;
