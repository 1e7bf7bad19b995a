import { rateLimited, tooManyCalls } from '../call-errors.ts';
import { connectionOwnerOf } from '../connection-owner.ts';
import type { CallRun } from './call-run.ts';
import { releaseArguments } from './count-arguments.ts';

/**
 * Takes a slot and a connection of the server. Throws HubError if there is none. Returns undefined if the call need not
 * wait, which is the usual case.
 */
export function reach(run: CallRun): Promise<void> | undefined {
  const { call, target } = run;
  const { isolated } = target.dispatch;
  const dispatch = isolated === undefined ? target.dispatch : isolated.at(connectionOwnerOf(call.request));
  if (!dispatch.enter(call.request.caller.account)) throw tooManyCalls(target);
  run.entered = dispatch;
  const { connection } = dispatch;
  const waits =
    connection === undefined ||
    connection.exclusiveAccess !== undefined ||
    call.request.channel?.log?.level !== undefined ||
    target.control.spec.limits.ratePerMin !== undefined;
  if (waits) return reachInTime(run);
  run.connected = connection;
  if (call.cancelled !== undefined) throw call.cancelled;
  return undefined;
}

/** Opens a connection if needed, and waits for exclusive access if calls take turns. */
export async function connect(run: CallRun): Promise<void> {
  const { call, dispatch } = run;
  run.connected = dispatch.connection ?? (await call.waitFor(dispatch.connect()));
  const { exclusiveAccess } = run.connected;
  if (exclusiveAccess !== undefined) await call.waitFor(exclusiveAccess.enter(call, call.request.client?.session));
}

/** Returns the slot, the exclusive access and the room for the arguments. */
export function release(run: CallRun): void {
  const { call, path, connected, entered, endState } = run;
  connected?.exclusiveAccess?.leave(call);
  entered?.leave(call.request.caller.account);
  run.hold?.letGo();
  releaseArguments(run);
  path.inFlight.delete(call);
  call.ended(endState);
}

async function reachInTime(run: CallRun): Promise<void> {
  const { call, target } = run;
  await connect(run);
  const level = call.request.channel?.log?.level;
  if (level !== undefined) await run.connection.log?.want(level);
  if (call.cancelled !== undefined) throw call.cancelled;
  const { ratePerMin } = target.control.spec.limits;
  // Last, so that only calls that are sent count, at the time when they are sent.
  if (ratePerMin !== undefined) takeRate(run, ratePerMin);
}

function takeRate({ call, path, target }: CallRun, perMinute: number): void {
  const waitMs = path.rates.take(target.server, perMinute, call.request.caller.account);
  if (waitMs > 0) throw rateLimited(target, perMinute, waitMs);
}
