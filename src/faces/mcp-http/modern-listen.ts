import { contain, defectFields, HubError, type Logger } from '../../base/index.ts';
import type { Hub } from '../../hub/index.ts';
import { ListenSubscription, type Request } from '../mcp/index.ts';
import type { Exchange } from './exchange.ts';
import type { ListenStreams, Subscription } from './listen-streams.ts';
import { type EventStream, openEventStream } from './response.ts';

export interface ModernListenDeps {
  readonly hub: Hub;
  readonly subscriptions: ListenStreams;
  readonly logger: Logger;
}

/** Answers `subscriptions/listen` with a stream that stays open. */
export async function openListenStream(
  { hub, subscriptions, logger }: ModernListenDeps,
  exchange: Exchange,
  request: Request,
): Promise<void> {
  const { response, caller, owner, acceptsStream } = exchange;
  if (!acceptsStream) throw new HubError('INVALID_REQUEST', 'A subscription needs "Accept: text/event-stream".');
  if (!subscriptions.hasRoom(owner)) {
    throw new HubError('OVERLOADED', 'Too many subscriptions are open.', { hint: 'Close some first.' });
  }
  let events: EventStream | undefined;
  const listening = new ListenSubscription(hub, caller, request, (message) => events?.send(message));
  events = openEventStream(response);
  const subscription: Subscription = {
    events,
    owner,
    caller,
    lists: hub.lists.digests(caller, listening.listKinds),
    authorization: exchange.headers.authorization,
    announce: (list) => listening.announce(list),
    end() {
      listening.end();
      events?.end();
    },
    fail(error) {
      logger.error('client.defect-contained', defectFields(error));
      subscription.end();
    },
  };
  // Added before servers are asked, so that it counts and ends with its token from the start.
  subscriptions.add(subscription);
  response.once('close', () => {
    subscriptions.remove(subscription);
    contain(logger, 'client.defect-contained', {}, () => listening.close());
  });
  await listening.open();
}
