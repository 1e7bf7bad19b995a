import type { CallResult } from '../call.ts';
import { approvalNeeded } from '../call-errors.ts';
import type { CallRun } from './call-run.ts';
import { closeRecord, endWith } from './record.ts';

/**
 * Waits for a person's approval, which a rule requires. Returns undefined if the call may go on. The record is written
 * before anybody could be asked: a call that is held in the ledger and never sent did not run. Nobody can answer yet, so
 * every call is refused at once.
 */
export async function hold(run: CallRun): Promise<CallResult | undefined> {
  const { call, path, target, record } = run;
  call.wasHeld();
  // Nothing is sent, so a ledger that cannot be written is no reason to answer anything else.
  await path.ledger.held(record).catch(() => {});
  const error = call.cancelled ?? approvalNeeded(target);
  closeRecord(run, endWith(run, error));
  return { kind: 'failed', error };
}
