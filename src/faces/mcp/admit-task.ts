import { HubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { declaresTasks, metaKeys, metaOf, tasksExtension } from '../../mcp/index.ts';
import { holdBytes } from './held-requests.ts';
import type { Request } from './operations.ts';
import { methodNotFound } from './protocol-errors.ts';

/** Throws HubError unless the client declares the tasks extension and the agent has a server that supports it. */
export async function admitTask(hub: Hub, caller: Caller, request: Request): Promise<void> {
  // The server may never have been discovered; then this waits for it as a list does.
  if (!hub.lists.hasTasks(caller)) {
    const release = holdBytes(caller, request.heldBytes);
    await hub.lists.discovered(caller).finally(release);
  }
  if (!hub.lists.hasTasks(caller)) throw methodNotFound(request);
  if (declaresTasks(metaOf(request.params)?.[metaKeys.clientCapabilities])) return;
  throw new HubError('CAPABILITY_MISSING', `${request.method} is for clients that declare ${tasksExtension}.`, {
    hint: 'Declare the extension in the capabilities of each request.',
    details: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
  });
}
