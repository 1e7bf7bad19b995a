import { HubError, isJsonObject } from '../../base/index.ts';
import type { Call, CallClient, CallerChannel, CallResult, ResourceSubscription } from '../../calls/index.ts';
import type { Caller, OperationKind, TaskKind } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  type ClientResponse,
  type Message,
  maxIdLength,
  metaOf,
  notification,
  type Params,
  progressTokenOf,
  type ServerRequest,
} from '../../mcp/index.ts';

export type Request = Message & { readonly kind: 'request' };

/** The operation that a request names. */
export interface Operation {
  readonly kind: OperationKind;
  readonly name: string;
  readonly argumentsText: string;
  readonly args: unknown;
}

/** Methods that act on servers; the hub answers all others itself. */
export function isOperation(method: string): boolean {
  return method === 'tools/call' || readers.has(method);
}

/** Task methods, which only modern clients may send. */
export function isTaskOperation(method: string): boolean {
  return taskKinds.has(method);
}

/** Throws HubError if the request does not name its tool, resource or prompt. */
export function operationOf(request: Request): Operation {
  const { method, params } = request;
  checkProgressToken(params);
  // Nearly every operation is a tool call.
  if (method === 'tools/call') return named('tool', request, 'tools/call needs "name", the name of a tool.');
  const taskKind = taskKinds.get(method);
  if (taskKind !== undefined) return onTask(taskKind, request);
  const read = readers.get(method);
  if (read === undefined) throw new HubError('METHOD_NOT_FOUND', `Method not found: ${method.slice(0, 200)}`);
  return read(request, params);
}

/** It is repeated in each progress notification. */
function checkProgressToken(params: Params): void {
  const token = progressTokenOf(params);
  if (typeof token !== 'string' || token.length <= maxIdLength) return;
  throw new HubError('INVALID_PARAMS', `"progressToken" may have ${maxIdLength} characters.`);
}

const readers: ReadonlyMap<string, (request: Request, params: Params) => Operation> = new Map([
  ['resources/read', (request: Request) => ofResource('resource', request)],
  ['resources/subscribe', (request: Request) => ofResource('subscription', request)],
  ['prompts/get', (request: Request) => named('prompt', request, 'prompts/get needs "name", the name of a prompt.')],
  ['completion/complete', (_request: Request, params: Params) => ofCompletion(params)],
]);

const taskKinds: ReadonlyMap<string, TaskKind> = new Map([
  ['tasks/get', 'task-get'],
  ['tasks/update', 'task-update'],
  ['tasks/cancel', 'task-cancel'],
]);

/** Input for a task travels like other input responses and is not recorded in the ledger. */
function onTask(kind: TaskKind, { method, params: { taskId }, inputsText }: Request): Operation {
  if (typeof taskId !== 'string') throw new HubError('INVALID_PARAMS', `${method} needs "taskId", the id of a task.`);
  if (kind === 'task-update' && inputsText === undefined) {
    throw new HubError('INVALID_PARAMS', 'tasks/update needs "inputResponses", an object.');
  }
  const args = { taskId };
  return { kind, name: taskId, argumentsText: JSON.stringify(args), args };
}

function named(kind: OperationKind, { params, argumentsText }: Request, complaint: string): Operation {
  if (typeof params.name !== 'string') throw new HubError('INVALID_PARAMS', complaint);
  return { kind, name: params.name, argumentsText: argumentsText ?? '{}', args: params.arguments ?? {} };
}

function ofResource(kind: OperationKind, { method, params: { uri } }: Request): Operation {
  if (typeof uri !== 'string') throw new HubError('INVALID_PARAMS', `${method} needs "uri", the URI of a resource.`);
  return onResource(kind, uri);
}

export function onResource(kind: OperationKind, uri: string): Operation {
  const args = { uri };
  return { kind, name: uri, argumentsText: JSON.stringify(args), args };
}

function ofCompletion({ ref, argument, context }: Params): Operation {
  const args = { argument, ...(context === undefined ? {} : { context }) };
  const rest = { kind: 'completion', argumentsText: JSON.stringify(args), args } as const;
  if (isJsonObject(ref) && isJsonObject(argument)) {
    if (ref.type === 'ref/prompt' && typeof ref.name === 'string') return { ...rest, name: `prompt:${ref.name}` };
    if (ref.type === 'ref/resource' && typeof ref.uri === 'string') return { ...rest, name: `resource:${ref.uri}` };
  }
  throw new HubError('INVALID_PARAMS', 'completion/complete needs "ref", a prompt or a resource, and "argument".');
}

/** What stands behind a request: the client, and ways to reach it before the answer. */
export interface ClientHandlers {
  readonly client: CallClient | undefined;
  /** Undefined if the transport carries nothing before the answer. */
  readonly between: ((message: string) => void) | undefined;
  readonly ask: ((serverRequest: ServerRequest) => Promise<ClientResponse>) | undefined;
  /** The call has ended: its open server requests are withdrawn. */
  readonly dismiss?: (() => void) | undefined;
  /** Undefined if the client wants no logs. */
  readonly log: { readonly level: string | undefined } | undefined;
}

export interface StartedCall {
  readonly call: Call;
  readonly result: Promise<CallResult>;
}

export interface OperationExtras {
  readonly inputs?: string;
  readonly subscribe?: ResourceSubscription;
}

/** A request that names an operation, and its caller. */
export interface CallerRequest {
  readonly caller: Caller;
  readonly request: Request;
  readonly operation: Operation;
}

export function startOperation(
  hub: Hub,
  { caller, request: { params, heldBytes }, operation }: CallerRequest,
  handlers: ClientHandlers,
  extras?: OperationExtras,
): StartedCall {
  return hub.call({
    kind: operation.kind,
    caller,
    name: operation.name,
    argumentsText: operation.argumentsText,
    args: operation.args,
    meta: forwardedMeta(params),
    heldBytes,
    inputs: extras?.inputs,
    client: handlers.client,
    subscription: extras?.subscribe,
    channel: channelOf(params, handlers),
  });
}

/** Whether the client wants progress, for which the answer must become a stream. */
export function wantsProgress({ params }: Request): boolean {
  return progressTokenOf(params) !== undefined;
}

/** The channel for progress, logs and server requests; undefined if the client takes none of them. */
export function channelOf(params: Params, { between, ask, log }: ClientHandlers): CallerChannel | undefined {
  const progressToken = between === undefined ? undefined : progressTokenOf(params);
  if (progressToken === undefined && ask === undefined && (log === undefined || between === undefined)) {
    return undefined;
  }
  return {
    progress:
      progressToken === undefined || between === undefined
        ? undefined
        : (progress) => between(notification('notifications/progress', { ...progress, progressToken })),
    log:
      log === undefined || between === undefined
        ? undefined
        : { level: log.level, send: (message) => between(notification('notifications/message', message)) },
    ask,
  };
}

/** The client's own `_meta` is forwarded, without the members for this hop. */
function forwardedMeta(params: Params): string {
  const meta = metaOf(params);
  if (meta === undefined) return '';
  const carried = Object.entries(meta).filter(([key]) => key !== 'progressToken' && !isOfThisHop(key));
  return carried.length === 0 ? '' : JSON.stringify(Object.fromEntries(carried)).slice(1, -1);
}

function isOfThisHop(key: string): boolean {
  return key.startsWith('io.modelcontextprotocol/') || key.startsWith('quartermaster/') || key === '__proto__';
}
