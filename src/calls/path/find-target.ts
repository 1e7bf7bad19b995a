import { isStatusCall } from '../availability/status-tool.ts';
import { lookUp, possibleOwners, undiscoveredOwner } from '../look-up.ts';
import { findAppTool } from '../mcp-apps/app-tool.ts';
import type { Target } from '../target.ts';
import type { CallRun } from './call-run.ts';

const longestName = 4096;

/**
 * Finds the target in the agent's view. A target that the agent may not see is found for the record only: from here
 * on the call is handled like one with an unknown name, and waits as long. With `mayWait`, a resource is not found yet
 * if it may belong to a server that comes first and has never listed anything.
 */
export function findTarget(run: CallRun, mayWait = true): Target | undefined {
  const { request } = run.call;
  const view = run.path.views.of(request.caller.chain);
  const target = lookUp(view, request, run.path.taskIds);
  run.found = target;
  if (target === undefined || target.decision.effect === 'deny') return findForApp(run);
  return mayWait && possibleOwners(view, request, target).length > 0 ? undefined : target;
}

/** The agent has nothing of that name; the user interface of a server may have said it. */
function findForApp(run: CallRun): Target | undefined {
  const { path, call } = run;
  const { request } = call;
  const tool = findAppTool(path.views.of(request.caller.chain), request, path.uis);
  run.ambiguous = tool?.kind === 'ambiguous' ? tool.servers : undefined;
  if (tool?.kind !== 'found') return undefined;
  run.found = tool.entry;
  return tool.entry.decision.effect === 'deny' ? undefined : tool.entry;
}

/** The same for an unknown name, after undiscovered servers that may have it have listed their tools. */
export async function findTargetLater(run: CallRun): Promise<Target | undefined> {
  const { call, path } = run;
  const { caller, name, argumentsText, meta } = call.request;
  // No server has a name or URI of this length.
  if (isStatusCall(call.request) || name.length > longestName) return undefined;
  const view = path.views.of(caller.chain);
  const earlier = run.found === undefined ? [] : possibleOwners(view, call.request, run.found);
  const owner = earlier.length > 0 ? earlier : undiscoveredOwner(view, call.request, path.taskIds);
  if (owner === undefined) return undefined;
  try {
    await call.waitFor(path.views.contacted(caller.chain, owner, argumentsText.length + meta.length));
  } catch {
    // Cancelled: the call has the reason.
    return undefined;
  }
  return findTarget(run, false);
}
