import { HubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { declaresTasks, metaKeys, metaOf, tasksExtension } from '../../mcp/index.ts';
import { methodNotFound } from './faults.ts';
import type { Request } from './operations.ts';

/** A request about a task is for clients that declare the extension, and for agents with a server that has it. */
export async function admitTask(hub: Hub, { chain }: Caller, request: Request): Promise<void> {
  const known = hub.views.of(chain);
  // The server may be one that was never seen; then it is waited for, as briefly as by a list.
  const { tasks } = known.tasks || known.unseen.length === 0 ? known : await hub.views.settled(chain);
  if (!tasks) throw methodNotFound(request);
  if (declaresTasks(metaOf(request.params)?.[metaKeys.clientCapabilities])) return;
  throw new HubError('CAPABILITY_MISSING', `${request.method} is for clients that declare ${tasksExtension}.`, {
    hint: 'Declare the extension in the capabilities of each request.',
    details: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
  });
}
