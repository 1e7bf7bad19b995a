import type { TaskIds } from '../mcp/index.ts';
import type { Call } from './call.ts';
import { lookUp, undiscoveredOwner } from './look-up.ts';
import { isStatusCall } from './status-tool.ts';
import type { Target } from './target.ts';
import type { Views } from './views.ts';

const longestName = 4096;

/** What a call means once the servers that may have it have listed what they have; for what nobody knows so far. */
export async function lookUpLater(call: Call, views: Views, taskIds: TaskIds): Promise<Target | undefined> {
  const { caller, name, argumentsText, meta } = call.request;
  const { chain } = caller;
  // No server has a name or URI as long as that.
  if (isStatusCall(call.request) || name.length > longestName) return undefined;
  const owner = undiscoveredOwner(views.of(chain), call.request, taskIds);
  if (owner === undefined) return undefined;
  try {
    await call.waitFor(views.contacted(chain, owner, argumentsText.length + meta.length));
  } catch {
    // Cancelled: the call itself says so.
    return undefined;
  }
  return lookUp(views.of(chain), call.request, taskIds);
}
