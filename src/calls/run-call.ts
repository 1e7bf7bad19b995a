import type { Call, CallResult } from './call.ts';
import { createCallRates } from './call-rates.ts';
import { isInputRequired } from './input-required/input-required.ts';
import { createSessionUis } from './mcp-apps/session-uis.ts';
import { admit, admitAfterWait } from './path/admit.ts';
import { admitAgain } from './path/admit-again.ts';
import { answerCached, findCached } from './path/answer-cached.ts';
import { answerInputRequests } from './path/answer-input-requests.ts';
import { answerMissing } from './path/answer-missing.ts';
import { type CallPathDeps, CallRun } from './path/call-run.ts';
import { checkDefinition } from './path/check-definition.ts';
import { claim, unclaim, wasNeverSent } from './path/claim.ts';
import { conclude } from './path/conclude.ts';
import { createConnectionTexts } from './path/connection-texts.ts';
import { countArguments } from './path/count-arguments.ts';
import { findTarget, findTargetLater } from './path/find-target.ts';
import { hold, mustHold } from './path/hold.ts';
import { reach, release } from './path/reach.ts';
import { closeAfterDefect, recordSending } from './path/record.ts';
import { refuseOverload, refuseUnsent } from './path/refuse.ts';
import { mayRepeat, repeat } from './path/repeat.ts';
import { screenInputs } from './path/screen-inputs.ts';
import { send } from './path/send.ts';

/**
 * The path of a call. It is the only way for a caller to reach an upstream server:
 *
 *   (count large arguments) → find → admit → (hold → admit again) → (answer from the cache) → (screen input) → reach
 *     → (claim the grant) → record "sent" → send → (input, repeat) → conclude
 *
 * The face has authenticated the caller. A step that is not needed costs no promise.
 */
export function createCallPath(deps: CallPathDeps): (call: Call) => Promise<CallResult> {
  const path = {
    ...deps,
    rates: createCallRates(deps),
    uis: createSessionUis(),
    ledgerConnectionOf: createConnectionTexts(deps.ledger),
  };

  return async function runCall(call) {
    const run = new CallRun(path, call);
    path.inFlight.add(call);
    try {
      const overload = countArguments(run);
      if (overload !== undefined) return refuseOverload(run, overload);
      const target = findTarget(run) ?? (await findTargetLater(run));
      if (target === undefined) return answerMissing(run);
      call.wasFound(target, path.filterRoots);
      let refusal = admit(run);
      while (refusal === undefined && mustHold(run)) refusal = (await hold(run)) ?? admitAgain(run);
      if (refusal !== undefined) return refusal;
      const cached = run.hold === undefined ? findCached(run) : undefined;
      if (cached !== undefined) {
        path.labels?.mark(call.request.caller, target);
        return await answerCached(run, cached);
      }
      try {
        if (run.inputs !== '') await screenInputs(run);
        const reached = reach(run);
        if (reached !== undefined) {
          await reached;
          const changed = admitAfterWait(run);
          if (changed !== undefined) return changed;
        }
        checkDefinition(run);
        if (run.hold !== undefined) await claim(run);
        path.budgets?.take(call.request.caller, target.server);
        path.labels?.mark(call.request.caller, target);
        await recordSending(run);
      } catch (error) {
        await unclaim(run);
        return refuseUnsent(run, error);
      }
      let reply = await send(run);
      if (isInputRequired(reply)) reply = await answerInputRequests(run, reply);
      if (mayRepeat(run, reply)) reply = await repeat(run, reply);
      if (wasNeverSent(reply)) await unclaim(run);
      return conclude(run, reply);
    } catch (error) {
      closeAfterDefect(run, error);
      throw error;
    } finally {
      release(run);
    }
  };
}
