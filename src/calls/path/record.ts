import { type HubError, isJsonObject, toHubError } from '../../base/index.ts';
import {
  type CallEnd,
  type DecisionFacts,
  decidedSubject,
  isGood,
  type LedgerSubject,
  type OpenCall,
  syncRecord,
} from '../../ledger/index.ts';
import { outcomeOf } from '../outcomes.ts';
import { decisionFacts } from '../target.ts';
import type { CallRun } from './call-run.ts';

/** Opens the record of the call in the ledger, and its span if tracing is on. */
export function openRecord(run: CallRun, subject: LedgerSubject): OpenCall {
  const { path, call, startedAt } = run;
  const { caller, argumentsText } = call.request;
  const record = path.ledger.open(subject, caller.run, argumentsText);
  path.traced?.begin(record, call.request, path.clock.now() - path.clock.monotonic() + startedAt);
  run.opened = record;
  return record;
}

/** The ledger subject with the decision on this call, that of the shadow policy, and the labels they were made on. */
export function subjectOf(run: CallRun): LedgerSubject {
  const { target, decision = target.decision } = run;
  const { shadow, labels } = triedFacts(run);
  if (decision === target.decision && shadow === undefined && labels === undefined) return target.subject;
  return decidedSubject(target.subject, { ...decisionFacts(decision), shadow, labels });
}

/** The same facts for a call whose record is open. */
export function recordedDecision(run: CallRun): DecisionFacts {
  return { ...decisionFacts(run.decision ?? run.target.decision), ...triedFacts(run) };
}

function triedFacts({ path, target, call }: CallRun): Pick<DecisionFacts, 'shadow' | 'labels'> {
  const { args, caller } = call.request;
  const labels = path.labels?.of(caller);
  const recorded = path.labels === undefined || labels?.size === 0 ? undefined : labels ? [...labels].sort() : null;
  const shadow = isJsonObject(args) ? target.decision.shadow?.({ args, caller, labels }) : undefined;
  return { shadow: shadow && decisionFacts(shadow), labels: recorded };
}

/** Resolves when the operating system has the record. Nothing is sent before that. */
export function recordSending(run: CallRun): Promise<void> {
  const { path, record, connection } = run;
  const written = path.ledger.sent(record, path.ledgerConnectionOf(connection));
  // A call with a single-use grant must not look unsent after a power cut.
  return run.claimed === undefined ? written : written.then(() => syncRecord(record));
}

/** Ends the call in the ledger, the metrics and the traces, exactly once. */
export function closeRecord(run: CallRun, end: CallEnd, isRecorded = true): void {
  const { path, record, found } = run;
  const { stage } = record;
  if (stage === 'ended') return;
  run.endState = stage === 'sent' ? endStateOf(end) : 'refused';
  // For the ledger, a call that was not sent is a refusal.
  if (isRecorded) path.ledger.done(record, end);
  else path.ledger.drop(record);
  if (stage === 'sent' && found !== undefined) path.meter?.ended(found, end.outcome, end.durationMs);
  else path.meter?.refused(found, end.outcome);
  path.traced?.end(record, found, end, run.decision);
  if (run.claimed !== undefined) path.approvals?.ended(run.claimed, end.outcome);
}

/** Ends the record of a call that failed because of a defect. */
export function closeAfterDefect(run: CallRun, error: unknown): void {
  if (run.opened !== undefined) closeRecord(run, endWith(run, toHubError(error)));
}

export function endWith({ durationMs }: CallRun, error: HubError): CallEnd {
  return { outcome: outcomeOf(error.code), durationMs, error: error.message };
}

function endStateOf({ outcome }: CallEnd): 'done' | 'failed' | 'interrupted' {
  if (outcome === 'interrupted') return 'interrupted';
  return isGood(outcome) ? 'done' : 'failed';
}
