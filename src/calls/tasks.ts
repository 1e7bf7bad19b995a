import { HubError, toHubError } from '../base/index.ts';
import type { TaskKind } from '../domain/index.ts';
import { type TaskClaims, type TaskIds, withMembers } from '../mcp/index.ts';
import type { UpstreamControl, WireReply } from '../upstream/index.ts';
import { awayWith } from './away.ts';
import type { CallRequest } from './call.ts';
import { unknownResult } from './refusals.ts';
import { otherTarget, type Target } from './target.ts';
import type { View, ViewEntry } from './view.ts';

/** A task is whose call became it, for as long as that agent has the tool. */
export function findTask(view: View, taskIds: TaskIds, request: CallRequest, kind: TaskKind): Target | undefined {
  const claims = claimsOf(taskIds, request);
  const entry = claims && entryOf(view, claims);
  if (claims === undefined || entry === undefined) return undefined;
  const { server, decision, dispatch, control } = entry;
  return otherTarget(view.chain, {
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
    // What is answered twice might be two answers.
    safeToRepeat: kind !== 'task-update',
    tasks: true,
    // A task goes on with what its tool does.
    keeping: entry.keeping?.writes ? entry.keeping : undefined,
  });
}

/** The server that a task id names, where its tools are not known. */
export function undiscoveredTaskServer(
  view: View,
  taskIds: TaskIds,
  request: CallRequest,
): UpstreamControl | undefined {
  const claims = claimsOf(taskIds, request);
  return view.unseen.find(({ spec }) => spec.name === claims?.server);
}

/** Whoever has the id of a task had the server, and may know that it is away. */
export function missingTask(view: View, taskIds: TaskIds, request: CallRequest, now: number): HubError {
  const claims = claimsOf(taskIds, request);
  const control = undiscoveredTaskServer(view, taskIds, request);
  return (claims && control && awayWith(control, claims.tool, now)) ?? unknownTask();
}

/**
 * What a server says of a task, under the id by which the caller knows it. Nothing else may come back as a task: not to
 * a caller that takes none, and not where there is one already.
 */
export function withExposedTask(
  { kind, name, client }: CallRequest,
  target: Target,
  taskIds: TaskIds,
  reply: WireReply,
): WireReply {
  if (reply.kind !== 'result') return reply;
  const { resultType, taskId } = reply.value;
  if (resultType !== 'task') {
    return kind === 'tool' || taskId === undefined ? reply : underId(reply, name);
  }
  if (kind !== 'tool' || client?.takesTasks !== true) return unknownResult(target, resultType);
  if (typeof taskId !== 'string') return garbled(target, 'made a task without an id');
  try {
    return underId(reply, taskIds.seal({ server: target.server, tool: target.ownName, taskId }, client.principal));
  } catch (error) {
    return failed(toHubError(error));
  }
}

function claimsOf(taskIds: TaskIds, { name, client }: CallRequest): TaskClaims | undefined {
  return client && taskIds.open(name, client.principal);
}

/** Exposed names may change; the id goes by what the server says. */
function entryOf(view: View, { server, tool }: TaskClaims): ViewEntry | undefined {
  for (const entry of view.entries.values()) if (entry.server === server && entry.ownName === tool) return entry;
  return undefined;
}

function underId(reply: WireReply & { readonly kind: 'result' }, taskId: string): WireReply {
  const text = withMembers(reply.text, { taskId: JSON.stringify(taskId) });
  return { ...reply, text, value: { ...reply.value, taskId } };
}

function unknownTask(): HubError {
  return new HubError('TASK_UNKNOWN', 'Unknown task.', {
    hint: 'It is not one of yours, or the tool that made it is not yours any more.',
  });
}

function garbled({ server, subjectName: tool }: Target, what: string): WireReply {
  return failed(new HubError('UPSTREAM_GARBLED', `Server "${server}" ${what}.`, { details: { server, tool } }));
}

function failed(error: HubError): WireReply {
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus: undefined };
}
