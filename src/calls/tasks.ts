import { HubError, toHubError } from '../base/index.ts';
import type { TaskKind } from '../domain/index.ts';
import { type TaskClaims, type TaskIds, withResultMembers } from '../mcp/index.ts';
import type { UpstreamControl, UpstreamReply } from '../upstream/index.ts';
import { unavailableServer } from './availability/unavailable.ts';
import type { CallRequest } from './call.ts';
import { unknownResult } from './call-errors.ts';
import { plainTarget, type Target } from './target.ts';
import type { View } from './views/view.ts';

/** A task belongs to the agent whose call created it, as long as that agent has the tool. */
export function findTask(view: View, taskIds: TaskIds, request: CallRequest, kind: TaskKind): Target | undefined {
  const claims = claimsOf(taskIds, request);
  // Exposed names may change, so the id uses the server's name. A tool that is now denied is found for the record.
  const entry = claims && view.toolOrDenied(claims.server, claims.tool);
  if (claims === undefined || entry === undefined) return undefined;
  const { server, decision, dispatch, control } = entry;
  return plainTarget(view.chain, {
    kind,
    name: request.name,
    server,
    subjectName: `task:${entry.subjectName}`,
    decision,
    dispatch,
    control,
    ownName: claims.taskId,
    callHead: `"taskId":${JSON.stringify(claims.taskId)}`,
    carries: 'nothing',
    // A second answer might differ from the first.
    safeToRepeat: kind !== 'task-update',
    tasks: true,
    // The task continues the work of its tool.
    cacheUse: entry.cacheUse?.writes ? entry.cacheUse : undefined,
  });
}

/** The server that a task id names, if its tools are not known. */
export function undiscoveredTaskServer(
  view: View,
  taskIds: TaskIds,
  request: CallRequest,
): UpstreamControl | undefined {
  const claims = claimsOf(taskIds, request);
  return view.undiscovered.find(({ spec }) => spec.name === claims?.server);
}

/** A caller with the id of a task had access to the server, so it may learn that the server is unavailable. */
export function missingTask(view: View, taskIds: TaskIds, request: CallRequest, now: number): HubError {
  const claims = claimsOf(taskIds, request);
  const control = undiscoveredTaskServer(view, taskIds, request);
  return (claims && control && unavailableServer(control, claims.tool, now)) ?? unknownTask();
}

/**
 * The server's answer about a task, with the id that the caller knows. Nothing else may be returned as a task: not to
 * a caller that does not support tasks, and not as the answer of a task.
 */
export function withExposedTask(
  { kind, name, client }: CallRequest,
  target: Target,
  taskIds: TaskIds,
  reply: UpstreamReply,
): UpstreamReply {
  if (reply.kind !== 'result') return reply;
  const { resultType, taskId } = reply.value;
  if (resultType !== 'task') {
    return kind === 'tool' || taskId === undefined ? reply : underId(reply, name);
  }
  if (kind !== 'tool' || client?.takesTasks !== true) return unknownResult(target, resultType, reply.httpStatus);
  if (typeof taskId !== 'string') return garbled(target, 'made a task without an id', reply.httpStatus);
  try {
    return underId(reply, taskIds.seal({ server: target.server, tool: target.ownName, taskId }, client.principal));
  } catch (error) {
    return failed(toHubError(error), reply.httpStatus);
  }
}

function claimsOf(taskIds: TaskIds, { name, client }: CallRequest): TaskClaims | undefined {
  return client && taskIds.open(name, client.principal);
}

function underId(reply: UpstreamReply & { readonly kind: 'result' }, taskId: string): UpstreamReply {
  return withResultMembers(reply, { taskId });
}

function unknownTask(): HubError {
  return new HubError('TASK_UNKNOWN', 'Unknown task.', {
    hint: 'It is not one of yours, or the tool that made it is not yours any more.',
  });
}

function garbled({ server, subjectName: tool }: Target, what: string, httpStatus: number | undefined): UpstreamReply {
  const error = new HubError('UPSTREAM_GARBLED', `Server "${server}" ${what}.`, { details: { server, tool } });
  return failed(error, httpStatus);
}

function failed(error: HubError, httpStatus: number | undefined): UpstreamReply {
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus };
}
