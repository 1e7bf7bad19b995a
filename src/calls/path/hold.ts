import type { AskOutcome, CallBinding } from '../../approvals/index.ts';
import { type HubError, toHubError } from '../../base/index.ts';
import type { CallResult } from '../call.ts';
import { approvalWaitOf } from '../held/client-waits.ts';
import { approvalRequestOf, bindingOf } from '../held/held-binding.ts';
import { pendingResult } from '../held/pending-result.ts';
import { deniedByPerson, nobodyDecided, nobodyToAsk } from '../held/refused-approval.ts';
import { reportWaiting } from '../held/report-waiting.ts';
import type { CallRun } from './call-run.ts';
import { closeRecord, endWith } from './record.ts';

/** Whether a rule requires approval that this call does not have. A grant for another version of it does not count. */
export function mustHold(run: CallRun): boolean {
  if (run.decision?.effect !== 'ask') return false;
  const { hold, heldFor } = run;
  if (hold !== undefined && heldFor !== undefined && isSame(heldFor, bindingOf(run))) return false;
  hold?.letGo();
  run.hold = undefined;
  return true;
}

/**
 * Waits for a person's approval. Returns undefined if the call may go on with `run.hold`. The record is written before
 * anybody is asked: a call that is held in the ledger and never sent did not run.
 */
export async function hold(run: CallRun): Promise<CallResult | undefined> {
  const { call, path, target, record } = run;
  call.wasHeld();
  try {
    if (record.stage === 'open') await path.ledger.held(record);
    const outcome = await ask(run);
    switch (outcome.kind) {
      case 'granted':
        run.hold = outcome.hold;
        return undefined;
      case 'pending':
        closeRecord(run, { outcome: 'pending', durationMs: run.durationMs });
        return pendingResult(run, outcome.approval);
      case 'denied':
        return refuseHeld(run, deniedByPerson(target, outcome.approval));
      case 'expired':
        return refuseHeld(run, nobodyDecided(target, outcome.approval));
    }
  } catch (error) {
    return refuseHeld(run, toHubError(error));
  }
}

/** The wait takes no slot of the server, and none of the time that the tool has. */
async function ask(run: CallRun): Promise<AskOutcome> {
  const { call, path, target } = run;
  const { approvals } = path;
  if (approvals === undefined) throw call.cancelled ?? nobodyToAsk(target);
  const { client, approvalWait } = call.request;
  const limit = approvalWait?.ms ?? approvals.waitMs() ?? approvalWaitOf(client?.name, call.wantsProgress);
  const ended = new AbortController();
  const report = reportWaiting(run);
  const binding = bindingOf(run);
  run.heldFor = binding;
  const wait = { ms: Math.max(0, limit - run.durationMs), signal: ended.signal, onAsked: report.about };
  const asked = approvals.ask(binding, approvalRequestOf(run), wait).then((outcome) => {
    // The caller has left: the grant is for its next attempt.
    if (ended.signal.aborted && outcome.kind === 'granted') outcome.hold.letGo();
    return outcome;
  });
  try {
    return await call.waitFor(asked);
  } finally {
    ended.abort();
    report.stop();
  }
}

function refuseHeld(run: CallRun, error: HubError): CallResult {
  closeRecord(run, endWith(run, error));
  return { kind: 'failed', error };
}

function isSame(one: CallBinding, other: CallBinding): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
