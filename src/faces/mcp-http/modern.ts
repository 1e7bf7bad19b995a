import { HubError } from '../../base/index.ts';
import type { Hub } from '../../hub/index.ts';
import { checkMirroredHeaders, type Message, type MirroredHeaders, resultReply } from '../../mcp/index.ts';
import {
  callTool,
  discoverResult,
  honoredFilter,
  listTools,
  methodNotFound,
  type Request,
  subscriptionEnd,
  subscriptionMessage,
  toolsChanged,
} from '../mcp/index.ts';
import type { Exchange } from './exchange.ts';
import { growingAnswer, openEventStream, sendJson, sendStatus } from './response.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';

/** The revision without handshake: every request stands for itself. */
export interface ModernFace {
  post(exchange: Exchange, message: Message, headers: MirroredHeaders): Promise<void>;
}

export function createModernFace(deps: { readonly hub: Hub; readonly subscriptions: Subscriptions }): ModernFace {
  const { hub, subscriptions } = deps;

  async function post(exchange: Exchange, message: Message, headers: MirroredHeaders): Promise<void> {
    const { response, caller } = exchange;
    if (message.kind !== 'request') {
      // This revision defines no notifications from clients over HTTP.
      sendStatus(response, 202);
      return;
    }
    checkMirroredHeaders(message, headers);
    switch (message.method) {
      case 'tools/call':
        return call(exchange, message);
      case 'tools/list':
        return sendJson(response, 200, await listTools(hub, caller, message, 'modern'));
      case 'server/discover':
        void hub.views.settled(caller.chain);
        return sendJson(response, 200, resultReply(message.idText, discoverResult()));
      case 'subscriptions/listen':
        return listen(exchange, message);
      default:
        throw methodNotFound(message);
    }
  }

  /** Closing the stream is how this revision cancels. */
  async function call({ response, caller, acceptsStream }: Exchange, request: Request): Promise<void> {
    const answer = growingAnswer(response, acceptsStream);
    const { call, answer: text } = callTool(hub, caller, request, 'modern', answer.between);
    response.once('close', () => {
      if (!response.writableFinished) call.cancel('the client closed the stream');
    });
    answer.end(await text);
  }

  function listen(exchange: Exchange, request: Request): void {
    const { response, caller, acceptsStream } = exchange;
    const honored = honoredFilter(request.params);
    if (!acceptsStream) throw new HubError('INVALID_REQUEST', 'A subscription needs "Accept: text/event-stream".');
    if (subscriptions.full) throw new HubError('OVERLOADED', 'Too many subscriptions are open.');
    const { idText } = request;
    const events = openEventStream(response);
    const members = `"notifications":${JSON.stringify(honored)}`;
    events.send(subscriptionMessage('notifications/subscriptions/acknowledged', idText, members));
    if (honored.toolsListChanged === undefined) {
      events.send(subscriptionEnd(idText));
      events.end();
      return;
    }
    const subscription: Subscription = {
      events,
      chain: caller.chain,
      toolsText: hub.views.of(caller.chain).toolsText,
      stillAllowed: exchange.stillAllowed,
      announce: () => events.send(subscriptionMessage(toolsChanged, idText)),
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
