import { redecide } from '../../ledger/index.ts';
import type { UpstreamReply } from '../../upstream/index.ts';
import { bindingOf } from '../held/held-binding.ts';
import { decideAgain } from './admit-again.ts';
import type { CallRun } from './call-run.ts';
import { recordedDecision } from './record.ts';

/**
 * Uses up the grant of a held call, for good, before its record says that it was sent. Decides once more, because a
 * connection may take long. Throws HubError if the grant does not fit any more.
 */
export async function claim(run: CallRun): Promise<void> {
  const { hold, path, record, call } = run;
  if (hold === undefined || path.approvals === undefined) return;
  const objection = decideAgain(run);
  if (objection !== undefined) throw objection.error;
  const { decision } = run;
  if (decision?.effect !== 'ask') return;
  run.claimed = await path.approvals.claim(hold, record.id, bindingOf(run));
  redecide(record, { ...recordedDecision(run), approval: run.claimed });
  if (call.cancelled !== undefined) throw call.cancelled;
}

/** The call was not sent, so the next equal one may use its grant. */
export async function unclaim(run: CallRun): Promise<void> {
  const { claimed, path } = run;
  run.claimed = undefined;
  // A grant that cannot be given back stays used: rather asked again than run twice.
  if (claimed !== undefined) await path.approvals?.release(claimed).catch(() => {});
}

/** A server that says it has lost the session has got the call. Only its word says that it did nothing. */
export function wasNeverSent(reply: UpstreamReply): boolean {
  return reply.kind === 'failed' && !reply.sent && reply.cause !== 'session';
}
