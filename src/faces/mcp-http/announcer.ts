import { type Clock, defectFields, type Logger, type Timer } from '../../base/index.ts';
import type { Hub } from '../../hub/index.ts';
import { notification, sseComment } from '../../mcp/index.ts';
import { changeMethods, type ListName, takeChanges } from '../mcp/index.ts';
import type { ClientSessions } from './client-sessions.ts';
import type { HttpSession, OpenStream } from './http-session.ts';
import type { Reception } from './reception.ts';
import { keepAliveMs } from './response.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { WaitingAnswers } from './waiting-answers.ts';

/** Several servers often change at once; clients hear of it once. */
const gatherMs = 50;

/** Answers that take long are looked after more often than streams need a sign of life. */
const beatMs = 5000;
const beatsToKeepAlive = Math.round(keepAliveMs / beatMs);

/** Tells open streams when a list of their agent has changed, and keeps them alive. */
export function createAnnouncer(deps: {
  readonly clock: Clock;
  readonly hub: Hub;
  readonly sessions: ClientSessions<HttpSession>;
  readonly subscriptions: Subscriptions;
  readonly waiting: WaitingAnswers;
  readonly reception: Reception;
  readonly logger: Logger;
}): { readonly revision: number; close(): void } {
  const { clock, hub, sessions, subscriptions, waiting, reception, logger } = deps;
  let gathering: Timer | undefined;
  let nextBeat: Timer = clock.setTimer(beatMs, beat);
  let beats = 0;
  let revision = 0;
  const stopTokens = reception.onChange(recheck);
  const stopViews = hub.views.onRenew(() => {
    revision++;
    gathering ??= clock.setTimer(gatherMs, announce);
  });
  function announce(): void {
    gathering = undefined;
    eachSession(({ stream }) => {
      if (stream === undefined) return;
      for (const list of changesFor(stream)) stream.events.send(notification(changeMethods[list]));
    });
    for (const subscription of [...subscriptions.all()]) {
      try {
        for (const list of changesFor(subscription)) subscription.announce(list);
      } catch (error) {
        logger.error('client_defect', defectFields(error));
        subscription.end();
      }
    }
  }

  /** A defect with one of them ends that one; the others hear what they should. */
  function eachSession(work: (session: HttpSession) => void): void {
    for (const session of [...sessions.all()]) {
      try {
        work(session);
      } catch (error) {
        logger.error('client_defect', defectFields(error));
        sessions.end(session);
      }
    }
  }

  function changesFor({ lists, chain }: OpenStream): readonly ListName[] {
    const view = hub.views.of(chain);
    // Of a server that was just added there is nothing to tell until it was asked, and who waits for word does not ask.
    if (view.unseen.length > 0) hub.views.discover(chain);
    return takeChanges(lists, view);
  }

  /** Ends streams whose token was revoked or has expired. */
  function recheck(): void {
    for (const session of sessions.all()) {
      if (!reception.isOwner(session.owner)) sessions.end(session);
    }
    for (const subscription of subscriptions.all()) {
      if (!reception.isGood(subscription.authorization)) subscription.end();
    }
  }

  function beat(): void {
    const now = clock.monotonic();
    eachSession(({ streams }) => streams.sweep(now));
    waiting.sweep();
    if (++beats % beatsToKeepAlive === 0) keepAlive();
    nextBeat = clock.setTimer(beatMs, beat);
  }

  function keepAlive(): void {
    recheck();
    eachSession(({ streams }) => streams.write(sseComment));
    for (const { events } of subscriptions.all()) events.write(sseComment);
    waiting.write(sseComment);
  }

  return {
    get revision() {
      return revision;
    },
    close() {
      stopTokens();
      stopViews();
      gathering?.cancel();
      nextBeat.cancel();
    },
  };
}
