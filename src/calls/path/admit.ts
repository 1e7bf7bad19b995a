import { type HubError, isJsonObject } from '../../base/index.ts';
import { type CallArguments, type Decision, decideOn } from '../../domain/index.ts';
import { findHeaderMismatch } from '../../mcp/index.ts';
import type { CallResult, ToolReference } from '../call.ts';
import { badArguments, deniedArguments, notSelected, stopping } from '../call-errors.ts';
import { askedMeanwhile, askedTooOften } from '../held/refused-approval.ts';
import type { Target } from '../target.ts';
import type { CallRun } from './call-run.ts';
import { openRecord, subjectOf } from './record.ts';
import { denial, refuse, refuseAtOnce } from './refuse.ts';

/**
 * Decides on the call by its target and, if a rule looks at them, its arguments. Opens the record.
 * Returns undefined unless the call is refused.
 */
export function admit(run: CallRun): CallResult | undefined {
  const { call, path, target } = run;
  const { args, caller, only } = call.request;
  const decision = isJsonObject(args) ? decideOnCall(run, args) : target.decision;
  run.decision = decision;
  if (path.isStopping()) return refuseAtOnce(run, stopping());
  if (only !== undefined && !isAmong(only, target)) return refuseAtOnce(run, notSelected(target));
  if (decision.effect === 'deny') return refuseAtOnce(run, deniedArguments(target, decision), denial(target, decision));
  const objection = isJsonObject(args) ? (mismatch(run) ?? call.cancelled) : badArguments(target);
  if (objection !== undefined) return refuseAtOnce(run, objection);
  if (decision.effect === 'ask' && !path.refused.mayHold(caller)) {
    return refuseAtOnce(run, askedTooOften(target));
  }
  openRecord(run, subjectOf(run));
  return undefined;
}

/**
 * Decides again on a call that waited for its server: by now a path may lead elsewhere, or the run may have another label.
 * Returns undefined unless the call is refused.
 */
export function admitAfterWait(run: CallRun): CallResult | undefined {
  const { call, target, decision } = run;
  const { args } = call.request;
  if (target.decision.condition === undefined || !isJsonObject(args)) return undefined;
  const now = decideOnCall(run, args);
  if (now.effect === 'deny') return refuse(run, denial(target, now), deniedArguments(target, now));
  return now.effect === 'ask' && decision?.effect === 'allow' ? refuse(run, askedMeanwhile(target)) : undefined;
}

export function decideOnCall({ path, call, target }: CallRun, args: CallArguments): Decision {
  const { caller } = call.request;
  if (target.decision.condition === undefined) return target.decision;
  return decideOn(target.decision, { args, caller, labels: path.labels?.of(caller) });
}

function isAmong(only: readonly ToolReference[], { server, ownName }: Target): boolean {
  return only.some((reference) => reference.server === server && reference.tool === ownName);
}

/** A modern HTTP client repeats some arguments in headers, on which a proxy may have decided. */
function mismatch({ call, target }: CallRun): HubError | undefined {
  const { client, args } = call.request;
  if (client?.headers === undefined || target.mirrored.length === 0) return undefined;
  return findHeaderMismatch(target.mirrored, args, client.headers);
}
