import type { IncomingMessage } from 'node:http';
import { HubError } from '../../base/index.ts';
import type { CallResult } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { checkMirroredHeaders, type Message, type MirroredHeaders, resultReply } from '../../mcp/index.ts';
import {
  callAnswer,
  callTool,
  discoverResult,
  honoredFilter,
  listTools,
  methodNotFound,
  type Request,
  subscriptionEnd,
  subscriptionMessage,
  toolsChanged,
  wantsProgress,
} from '../mcp/index.ts';
import type { Exchange } from './exchange.ts';
import { checkMirroredArguments } from './mirrored-arguments.ts';
import { growingAnswer, openEventStream, sendJson, sendStatus } from './response.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';

/** The revision without handshake: every request stands for itself. */
export interface ModernFace {
  /** Answers at once, or returns a promise that rejects when it cannot. */
  post(exchange: Exchange, message: Message, headers: MirroredHeaders): Promise<void> | undefined;
}

export function createModernFace(deps: { readonly hub: Hub; readonly subscriptions: Subscriptions }): ModernFace {
  const { hub, subscriptions } = deps;

  function post(exchange: Exchange, message: Message, headers: MirroredHeaders): Promise<void> | undefined {
    if (message.kind !== 'request') {
      // This revision defines no notifications from clients over HTTP.
      sendStatus(exchange.response, 202);
      return undefined;
    }
    checkMirroredHeaders(message, headers);
    switch (message.method) {
      case 'tools/call':
        return call(exchange, message);
      case 'tools/list':
        return list(exchange, message);
      case 'server/discover':
        return discover(exchange, message);
      case 'subscriptions/listen':
        return listen(exchange, message);
      default:
        throw methodNotFound(message);
    }
  }

  async function list({ response, caller }: Exchange, request: Request): Promise<void> {
    sendJson(response, 200, await listTools(hub, caller, request, 'modern'));
  }

  async function discover({ response, caller }: Exchange, request: Request): Promise<void> {
    sendJson(response, 200, resultReply(request.idText, await discoverResult(hub, caller)));
  }

  /** Closing the stream is how this revision cancels. */
  function call({ request: incoming, response, caller, acceptsStream }: Exchange, request: Request): Promise<void> {
    checkArguments(caller, request, incoming);
    const growing = acceptsStream && wantsProgress(request) ? growingAnswer(response) : undefined;
    const { call, result } = callTool(hub, caller, request, growing?.between);
    response.once('close', () => {
      if (!response.writableFinished) call.cancel('the client closed the stream');
    });
    return result.then((outcome) => {
      const text = callAnswer(request.idText, outcome, 'modern');
      if (growing === undefined) sendJson(response, statusOf(outcome), text);
      else growing.end(text, statusOf(outcome));
    });
  }

  function checkArguments(caller: Caller, { params }: Request, incoming: IncomingMessage): void {
    const entry = hub.views.of(caller.chain).entries.get(params.name as string); // anything else is no name of a tool
    const mirrored = entry?.tool.mirrored ?? [];
    if (mirrored.length > 0) checkMirroredArguments(mirrored, params.arguments, incoming.headers);
  }

  function listen(exchange: Exchange, request: Request): undefined {
    const { response, caller, acceptsStream } = exchange;
    const honored = honoredFilter(request.params);
    if (!acceptsStream) throw new HubError('INVALID_REQUEST', 'A subscription needs "Accept: text/event-stream".');
    if (subscriptions.full) throw new HubError('OVERLOADED', 'Too many subscriptions are open.');
    const { idText } = request;
    const events = openEventStream(response);
    const members = `"notifications":${JSON.stringify(honored)}`;
    events.send(subscriptionMessage('notifications/subscriptions/acknowledged', idText, members));
    const subscription: Subscription = {
      events,
      chain: caller.chain,
      toolsText: hub.views.of(caller.chain).toolsText,
      authorization: exchange.headers.authorization,
      announce() {
        if (honored.toolsListChanged) events.send(subscriptionMessage(toolsChanged, idText));
      },
      end() {
        events.send(subscriptionEnd(idText));
        events.end();
      },
    };
    subscriptions.add(subscription);
    response.once('close', () => subscriptions.remove(subscription));
  }

  return { post };
}

/** A server that misses something the client could do says so, and the revision wants a status for it. */
function statusOf(outcome: CallResult): number {
  return outcome.kind === 'error' && outcome.code === missingCapability ? 400 : 200;
}

const missingCapability = -32021;
