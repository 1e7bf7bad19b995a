import type { TaskIds } from '../mcp/index.ts';
import type { Call } from './call.ts';
import { lookUp, undiscoveredOwner } from './look-up.ts';
import { isStatusCall } from './status-tool.ts';
import type { Target } from './target.ts';
import type { Views } from './views.ts';

/** What a call means once the servers that may have it have listed what they have; for what nobody knows so far. */
export async function lookUpLater(call: Call, views: Views, taskIds: TaskIds): Promise<Target | undefined> {
  const { chain } = call.request.caller;
  if (isStatusCall(call.request)) return undefined;
  const owner = undiscoveredOwner(views.of(chain), call.request, taskIds);
  if (owner === undefined) return undefined;
  try {
    await call.waitFor<unknown>(owner === 'any' ? views.settled(chain) : views.contacted(owner));
  } catch {
    // Cancelled: the call itself says so.
    return undefined;
  }
  return lookUp(views.of(chain), call.request, taskIds);
}
