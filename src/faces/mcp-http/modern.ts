import { checkMirroredHeaders, type Message, type MirroredHeaders, resultReply } from '../../mcp/index.ts';
import {
  admitTask,
  discoverResult,
  isList,
  isOperation,
  isTaskOperation,
  listAnswer,
  methodNotFound,
  modernListClient,
  type Request,
} from '../mcp/index.ts';
import type { Exchange } from './exchange.ts';
import { type ModernCallDeps, operateModern } from './modern-call.ts';
import { type ModernListenDeps, openListenStream } from './modern-listen.ts';
import { sendAnswer, sendJson, sendStatus } from './response.ts';

export interface ModernDeps extends ModernCallDeps, ModernListenDeps {
  /** Throws HubError if the token of the request has expired or was revoked since. */
  readonly recheckToken: (exchange: Exchange) => void;
}

/**
 * A posted message of the protocol version without a handshake, in which every request is complete in itself. Answers
 * at once, or returns a promise that rejects when it cannot.
 */
export function postModern(
  deps: ModernDeps,
  exchange: Exchange,
  message: Message,
  headers: MirroredHeaders,
): Promise<void> | undefined {
  if (message.kind !== 'request') {
    // This version defines no notifications from clients over HTTP.
    sendStatus(exchange.response, 202);
    return undefined;
  }
  checkMirroredHeaders(message, headers);
  const { method } = message;
  if (method === 'tools/call' || (isOperation(method) && method !== 'resources/subscribe')) {
    return operateModern(deps, exchange, message);
  }
  if (isList(method)) return list(deps, exchange, message);
  if (isTaskOperation(method)) return operateTask(deps, exchange, message);
  if (method === 'server/discover') return discover(deps, exchange, message);
  if (method === 'subscriptions/listen') return openListenStream(deps, exchange, message);
  throw methodNotFound(message);
}

async function list({ hub, recheckToken }: ModernDeps, exchange: Exchange, request: Request): Promise<void> {
  const answer = await listAnswer(hub, exchange.caller, request, modernListClient(request.params));
  recheckToken(exchange);
  sendAnswer(exchange.response, { idText: request.idText, text: answer, ran: false });
}

async function operateTask(deps: ModernDeps, exchange: Exchange, request: Request): Promise<void> {
  await admitTask(deps.hub, exchange.caller, request);
  await operateModern(deps, exchange, request);
}

async function discover({ hub }: ModernDeps, { response, caller }: Exchange, request: Request): Promise<void> {
  sendJson(response, 200, resultReply(request.idText, discoverResult(hub, caller)));
}
