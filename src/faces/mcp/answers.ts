import { HubError, isJsonObject, version } from '../../base/index.ts';
import type { Call, CallerChannel, CallResult, View } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  type Era,
  errorReply,
  type Message,
  metaKeys,
  metaOf,
  modernVersions,
  negotiateLegacy,
  notification,
  type Params,
  progressTokenOf,
  rawErrorReply,
  resultReply,
  toLegacyResult,
  toModernResult,
} from '../../mcp/index.ts';
import { instructionsFor } from './instructions.ts';

/** What the hub answers to a client's requests, whatever the transport. */
export type Request = Message & { readonly kind: 'request' };

const serverInfo = { name: 'quartermaster', title: 'Quartermaster', version };
const identity = `"_meta":${JSON.stringify({ [metaKeys.serverInfo]: serverInfo })}`;
const capabilities = { tools: { listChanged: true } };
/** A list is the agent's own, and may change with any reload: nobody else may see it, nobody keeps it. */
const caching = '"ttlMs":0,"cacheScope":"private"';

export async function initializeResult(
  hub: Hub,
  caller: Caller,
  params: Params,
): Promise<{ readonly protocolVersion: string; readonly text: string }> {
  const protocolVersion = negotiateLegacy(params.protocolVersion);
  const instructions = await instructionsFor(hub, caller);
  return { protocolVersion, text: JSON.stringify({ protocolVersion, capabilities, serverInfo, instructions }) };
}

export async function discoverResult(hub: Hub, caller: Caller): Promise<string> {
  const instructions = await instructionsFor(hub, caller);
  const members = JSON.stringify({ supportedVersions: modernVersions, capabilities, instructions }).slice(1, -1);
  return `{"resultType":"complete",${members},${caching},${identity}}`;
}

export const emptyResult = '{}';

/** The only revision that knows batches. */
export const batchVersion = '2025-03-26';

/** Lists are answered from what is known; only a server that was never seen is waited for, and briefly. */
export async function listTools(hub: Hub, caller: Caller, request: Request, era: Era): Promise<string> {
  if (request.params.cursor !== undefined) {
    return errorReply(request.idText, new HubError('INVALID_PARAMS', 'The list has one page; send no cursor.'));
  }
  const known = hub.views.of(caller.chain);
  const view = known.unseen.length === 0 ? known : await hub.views.settled(caller.chain);
  return resultReply(request.idText, listText(view, era));
}

function listText(view: View, era: Era): string {
  if (era === 'legacy') return `{"tools":${view.toolsText}}`;
  return `{"resultType":"complete","tools":${view.toolsText},${caching},${identity}}`;
}

export interface ToolCall {
  readonly call: Call;
  readonly result: Promise<CallResult>;
}

/** Messages in between are wanted; then `callTool` needs a way to send them. */
export function wantsProgress(request: Request): boolean {
  return progressTokenOf(request.params) !== undefined;
}

/** `send` carries messages in between; undefined where nobody wants them or the transport has no way for them. */
export function callTool(
  hub: Hub,
  caller: Caller,
  request: Request,
  send: ((message: string) => void) | undefined,
): ToolCall {
  const { params } = request;
  if (typeof params.name !== 'string') {
    throw new HubError('INVALID_PARAMS', 'tools/call needs "name", the name of a tool.');
  }
  return hub.call({
    kind: 'tool',
    caller,
    name: params.name,
    argumentsText: request.argumentsText ?? '{}',
    args: params.arguments ?? {},
    meta: carriedMeta(params),
    channel: progressChannel(params, send),
  });
}

/** The whole JSON-RPC answer to a tool call. */
export function callAnswer(idText: string, outcome: CallResult, era: Era): string {
  switch (outcome.kind) {
    case 'result':
      return resultReply(idText, era === 'modern' ? toModernResult(outcome.result) : toLegacyResult(outcome.result));
    case 'error':
      return rawErrorReply(idText, outcome.text);
    case 'failed':
      return errorReply(idText, outcome.error);
  }
}

function progressChannel(params: Params, send: ((message: string) => void) | undefined): CallerChannel | undefined {
  const progressToken = progressTokenOf(params);
  if (progressToken === undefined || send === undefined) return undefined;
  return {
    progress(progress) {
      send(notification('notifications/progress', { ...progress, progressToken }));
    },
  };
}

/** The client's own `_meta` travels on, without what belongs to this hop alone. */
function carriedMeta(params: Params): string {
  const meta = metaOf(params);
  if (meta === undefined) return '';
  const carried = Object.entries(meta).filter(([key]) => key !== 'progressToken' && !isOfThisHop(key));
  return carried.length === 0 ? '' : JSON.stringify(Object.fromEntries(carried)).slice(1, -1);
}

function isOfThisHop(key: string): boolean {
  return key.startsWith('io.modelcontextprotocol/') || key.startsWith('quartermaster/') || key === '__proto__';
}

export function methodNotFound(request: Request): HubError {
  return new HubError('METHOD_NOT_FOUND', `Method not found: ${request.method.slice(0, 200)}`);
}

export function invalidMessage(reason: string): HubError {
  return new HubError('INVALID_REQUEST', `Not a JSON-RPC message: ${reason}.`);
}

/** The parts of a `subscriptions/listen` filter that the hub serves. */
export function honoredFilter(params: Params): { readonly toolsListChanged?: true } {
  const wanted = params.notifications;
  if (!isJsonObject(wanted)) throw new HubError('INVALID_PARAMS', '"notifications" must be an object.');
  return wanted.toolsListChanged === true ? { toolsListChanged: true } : {};
}

/** A message of a subscription carries the id of the request that opened it. */
export function subscriptionMessage(method: string, idText: string, members = ''): string {
  const tag = `"_meta":{"${metaKeys.subscriptionId}":${idText}}`;
  return `{"jsonrpc":"2.0","method":"${method}","params":{${members === '' ? '' : `${members},`}${tag}}}`;
}

export function subscriptionEnd(idText: string): string {
  const tag = JSON.stringify({ [metaKeys.serverInfo]: serverInfo }).slice(0, -1);
  return resultReply(idText, `{"resultType":"complete","_meta":${tag},"${metaKeys.subscriptionId}":${idText}}}`);
}

export const toolsChanged = 'notifications/tools/list_changed';
