import type { IncomingMessage } from 'node:http';
import { contain, HubError, type Logger } from '../../base/index.ts';
import type { CallResult } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  askableNothing,
  checkMirroredHeaders,
  type Message,
  type MirroredHeaders,
  resultReply,
} from '../../mcp/index.ts';
import {
  acknowledgement,
  admitTask,
  discoverResult,
  isList,
  isOperation,
  isSpokenTo,
  isTaskOperation,
  knownLists,
  type ListName,
  listAnswer,
  listChange,
  listenFilter,
  methodNotFound,
  modernListPatience,
  principalOf,
  type Request,
  type Rounds,
  resourceChange,
  subscriptionEnd,
  watchResources,
} from '../mcp/index.ts';
import type { Exchange } from './exchange.ts';
import { checkMirroredArguments } from './mirrored-arguments.ts';
import { growingAnswer, openEventStream, sendJson, sendStatus } from './response.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';
import type { WaitingAnswers } from './waiting-answers.ts';

/** The revision without handshake: every request stands for itself. */
export interface ModernFace {
  /** Answers at once, or returns a promise that rejects when it cannot. */
  post(exchange: Exchange, message: Message, headers: MirroredHeaders): Promise<void> | undefined;
}

export interface ModernFaceDeps {
  readonly hub: Hub;
  readonly rounds: Rounds;
  readonly subscriptions: Subscriptions;
  readonly waiting: WaitingAnswers;
  readonly logger: Logger;
  /** Throws HubError where the token that let the request in has ended since. */
  readonly checkStill: (exchange: Exchange) => void;
}

export function createModernFace(deps: ModernFaceDeps): ModernFace {
  const { hub, rounds, subscriptions, waiting, logger, checkStill } = deps;
  function post(exchange: Exchange, message: Message, headers: MirroredHeaders): Promise<void> | undefined {
    if (message.kind !== 'request') {
      // This revision defines no notifications from clients over HTTP.
      sendStatus(exchange.response, 202);
      return undefined;
    }
    checkMirroredHeaders(message, headers);
    const { method } = message;
    if (method === 'tools/call' || (isOperation(method) && method !== 'resources/subscribe')) {
      return operate(exchange, message);
    }
    if (isList(method)) return list(exchange, message);
    if (isTaskOperation(method)) return admitTask(hub, exchange.caller, message).then(() => operate(exchange, message));
    if (method === 'server/discover') return discover(exchange, message);
    if (method === 'subscriptions/listen') return listen(exchange, message);
    throw methodNotFound(message);
  }

  async function list(exchange: Exchange, request: Request): Promise<void> {
    const waitMs = modernListPatience(request.params);
    const answer = await listAnswer(hub, exchange.caller, request, { era: 'modern', waitMs });
    checkStill(exchange);
    sendJson(exchange.response, 200, answer);
  }

  async function discover({ response, caller }: Exchange, request: Request): Promise<void> {
    sendJson(response, 200, resultReply(request.idText, discoverResult(hub, caller)));
  }

  /** Closing the stream is how this revision cancels. */
  function operate(exchange: Exchange, request: Request): Promise<void> {
    const { request: incoming, response, caller, acceptsStream } = exchange;
    if (request.method === 'tools/call') checkArguments(caller, request, incoming);
    if (acceptsStream && isSpokenTo(request)) exchange.growing = growingAnswer(response);
    const round = rounds.begin(caller, request, exchange.growing?.between);
    if (acceptsStream) waiting.add(exchange);
    response.once('close', () => {
      if (response.writableFinished) return;
      contain(logger, 'client_defect', {}, () => round.cancel('the client closed the stream'));
    });
    return round.answer.then(({ text, outcome }) => {
      waiting.answered(exchange);
      if (exchange.growing === undefined) sendJson(response, statusOf(outcome), text);
      else exchange.growing.end(text, statusOf(outcome));
    });
  }

  function checkArguments(caller: Caller, { params }: Request, incoming: IncomingMessage): void {
    const entry = hub.views.of(caller.chain).entries.get(params.name as string); // anything else is no name of a tool
    const mirrored = entry?.tool.mirrored ?? [];
    if (mirrored.length > 0) checkMirroredArguments(mirrored, params.arguments, incoming.headers);
  }

  async function listen(exchange: Exchange, request: Request): Promise<void> {
    const { response, caller, owner, acceptsStream } = exchange;
    const filter = listenFilter(request.params);
    if (!acceptsStream) throw new HubError('INVALID_REQUEST', 'A subscription needs "Accept: text/event-stream".');
    if (!subscriptions.hasRoom(owner)) {
      throw new HubError('OVERLOADED', 'Too many subscriptions are open.', { hint: 'Close some first.' });
    }
    const { idText } = request;
    const watched = watchResources(hub, (uri) => subscription.events.send(resourceChange(uri, idText)));
    const client = { principal: principalOf(caller), session: undefined, askable: askableNothing, takesRounds: true };
    const events = openEventStream(response);
    /** What changed before the acknowledgement, which comes first; undefined from then on. */
    let early: Set<ListName> | undefined = new Set();
    const subscription: Subscription = {
      events,
      owner,
      chain: caller.chain,
      lists: knownLists(hub.views.of(caller.chain)),
      authorization: exchange.headers.authorization,
      announce(list) {
        if (!filter.lists.has(list)) return;
        if (early === undefined) events.send(listChange(list, idText));
        else early.add(list);
      },
      end() {
        events.send(subscriptionEnd(idText));
        events.end();
      },
    };
    // At once: it counts, and ends with its token, while servers are still being asked.
    subscriptions.add(subscription);
    response.once('close', () => {
      subscriptions.remove(subscription);
      contain(logger, 'client_defect', {}, () => watched.close());
    });
    const granted = await watched.watchAll(caller, filter.resources, client);
    events.send(acknowledgement(idText, { lists: filter.lists, resources: granted }));
    const changed = early;
    early = undefined;
    for (const list of changed) subscription.announce(list);
  }

  return { post };
}

/** A server that misses something the client could do says so, and the revision wants a status for it. */
function statusOf(outcome: CallResult | undefined): number {
  return outcome?.kind === 'error' && outcome.code === missingCapability ? 400 : 200;
}

const missingCapability = -32021;
