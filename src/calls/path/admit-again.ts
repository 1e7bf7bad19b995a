import { type HubError, isJsonObject } from '../../base/index.ts';
import type { Decision } from '../../domain/index.ts';
import { redecide } from '../../ledger/index.ts';
import type { CallResult } from '../call.ts';
import { deniedArguments, movedTool, stopping } from '../call-errors.ts';
import { lookUpDenied, missing } from '../look-up.ts';
import { decideOnCall } from './admit.ts';
import type { CallRun } from './call-run.ts';
import { findTarget } from './find-target.ts';
import { recordedDecision } from './record.ts';
import { denial, refuse } from './refuse.ts';

/** Returns undefined unless the call is refused. */
export function admitAgain(run: CallRun): CallResult | undefined {
  const objection = decideAgain(run);
  return objection && refuse(run, objection.cause, objection.error);
}

interface Objection {
  /** For the caller. */
  readonly error: HubError;
  /** For the ledger. */
  readonly cause: HubError;
}

/**
 * Finds the target and decides again: while the call waited, the rules, the server, its tools and its credential may have
 * changed.
 */
export function decideAgain(run: CallRun): Objection | undefined {
  const { path, call, target: before } = run;
  const { caller, args } = call.request;
  if (call.cancelled !== undefined) return same(call.cancelled);
  if (path.isStopping()) return same(stopping());
  const target = findTarget(run, false);
  if (target === undefined) {
    const error = missing(path.views.of(caller.chain), call.request, path.taskIds, path.clock.now());
    const { found = lookUpDenied(path.views.of(caller.chain), call.request) } = run;
    run.found = found ?? before;
    if (found === undefined) return same(error);
    decide(run, found.decision);
    return { error, cause: denial(found, found.decision) };
  }
  if (target.server !== before.server || target.subjectName !== before.subjectName) return same(movedTool(before));
  call.wasFound(target, path.filterRoots);
  const decision = isJsonObject(args) ? decideOnCall(run, args) : target.decision;
  decide(run, decision);
  if (decision.effect !== 'deny') return undefined;
  return { error: deniedArguments(target, decision), cause: denial(target, decision) };
}

function decide(run: CallRun, decision: Decision): void {
  run.decision = decision;
  redecide(run.record, recordedDecision(run));
}

function same(error: HubError): Objection {
  return { error, cause: error };
}
