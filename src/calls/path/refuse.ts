import { HubError, toHubError } from '../../base/index.ts';
import type { Decision } from '../../domain/index.ts';
import { describeDecision } from '../../governance/index.ts';
import type { CallEnd } from '../../ledger/index.ts';
import { forCaller } from '../availability/unavailable.ts';
import type { CallResult } from '../call.ts';
import { unknownSubject } from '../look-up.ts';
import type { Target } from '../target.ts';
import type { CallRun } from './call-run.ts';
import { findTarget } from './find-target.ts';
import { closeRecord, endWith, openRecord, subjectOf } from './record.ts';

/**
 * Refuses a call without a record, which is cheap for calls over the limit. The caller gets `error`. The ledger, the
 * metrics and the traces get `cause`.
 */
export function refuseAtOnce(run: CallRun, error: HubError, cause = error): CallResult {
  const end = endWith(run, cause);
  endRefused(run, end, run.path.refused.isRecorded(run.call.request.caller, end.outcome));
  return { kind: 'failed', error };
}

/** For a call that has not looked for its target yet. The record has it if the agent's view has. */
export function refuseOverload(run: CallRun, error: HubError): CallResult {
  const target = findTarget(run);
  run.decision = target?.decision;
  return refuseAtOnce(run, error);
}

function endRefused(run: CallRun, end: CallEnd, isRecorded: boolean): void {
  const { path, call, found } = run;
  run.endState = 'refused';
  if (isRecorded || path.traced !== undefined) {
    openRecord(run, found === undefined ? unknownSubject(call.request) : subjectOf(run));
    closeRecord(run, end, isRecorded);
  } else path.meter?.refused(found, end.outcome);
}

/** The same for a call that has a record. */
export function refuse(run: CallRun, cause: HubError, error = cause): CallResult {
  const end = endWith(run, cause);
  closeRecord(run, end, run.path.refused.isRecorded(run.call.request.caller, end.outcome));
  return { kind: 'failed', error };
}

/** The server could not be reached, or the record could not be written. */
export function refuseUnsent(run: CallRun, error: unknown): CallResult {
  const known = toHubError(error);
  return refuse(run, known, forCaller(known, run.target, run.path.clock.now()));
}

/** For the operator: the rule that denies the call, and its place. */
export function denial({ server, subjectName }: Target, decision: Decision): HubError {
  return new HubError('POLICY_DENIED', describeDecision(decision, server, subjectName));
}
