import { defectFields } from '../../base/index.ts';
import { notification } from '../../mcp/index.ts';
import { addLists, changeMethods, takeChanges } from '../mcp/index.ts';
import type { Exchange } from './exchange.ts';
import { type LegacyDeps, sessionOf } from './legacy-session.ts';
import { sendStatus } from './response.ts';
import type { HttpSession, OpenStream } from './sessions/http-session.ts';

/** The GET stream of a session: announcements, or the rest of an answer whose connection broke. */
export function openGetStream(deps: LegacyDeps, exchange: Exchange): void {
  const session = sessionOf(deps, exchange);
  if (!exchange.acceptsStream) {
    sendStatus(exchange.response, 406);
    return;
  }
  const resumed = session.streams.find(exchange.headers['last-event-id']);
  if (resumed?.isAnswer) {
    resumed.log.attach(exchange.response, resumed.after);
    return;
  }
  const stream = announcementsOf(deps, exchange, session, resumed?.after);
  session.stream = stream;
  stream.events.write(': open\n\n');
  // Changes since the client last listed could not be announced before.
  for (const list of takeChanges(stream.lists, deps.hub.lists, stream.caller)) stream.announce(list);
  exchange.response.once('close', () => {
    if (session.stream === stream) session.stream = undefined;
  });
}

function announcementsOf(
  { hub, sessions, logger }: LegacyDeps,
  exchange: Exchange,
  session: HttpSession,
  after: number | undefined,
): OpenStream {
  const { caller } = exchange;
  const events = session.streams.listen(exchange.response, after);
  return {
    events,
    caller,
    lists: addLists({ ...session.listed }, hub.lists, caller),
    authorization: exchange.headers.authorization,
    announce: (list) => events.send(notification(changeMethods[list])),
    fail(error) {
      logger.error('client.defect-contained', defectFields(error));
      sessions.end(session);
    },
  };
}
