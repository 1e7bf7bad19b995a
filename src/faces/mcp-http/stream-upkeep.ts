import { type Clock, defectFields, type Logger, type Timer } from '../../base/index.ts';
import { sseComment } from '../../mcp/index.ts';
import type { Authenticator } from './authenticator.ts';
import type { ListenStreams } from './listen-streams.ts';
import { keepAliveMs } from './response.ts';
import type { ClientSessions } from './sessions/client-sessions.ts';
import type { HttpSession } from './sessions/http-session.ts';
import type { WaitingAnswers } from './waiting-answers.ts';

/** Slow answers are looked at more often than streams need a keep-alive comment. */
const beatMs = 5000;
const beatsToKeepAlive = Math.round(keepAliveMs / beatMs);

export interface StreamUpkeepDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly authenticator: Authenticator;
  readonly sessions: ClientSessions<HttpSession>;
  readonly subscriptions: ListenStreams;
  readonly waiting: WaitingAnswers;
}

/** Keeps open streams alive, turns slow answers into streams, and ends streams whose token has ended. */
export class StreamUpkeep {
  readonly #deps: StreamUpkeepDeps;
  readonly #stopTokens: () => void;
  #nextBeat: Timer;
  #beats = 0;

  constructor(deps: StreamUpkeepDeps) {
    this.#deps = deps;
    this.#stopTokens = deps.authenticator.onTokensChange(() => this.#recheckTokens());
    this.#nextBeat = this.#schedule();
  }

  close(): void {
    this.#stopTokens();
    this.#nextBeat.cancel();
  }

  #schedule(): Timer {
    return this.#deps.clock.setTimer(beatMs, () => this.#beat());
  }

  #beat(): void {
    const { clock, waiting } = this.#deps;
    const now = clock.monotonic();
    this.#eachSession(({ streams }) => streams.sweep(now));
    waiting.sweep();
    if (++this.#beats % beatsToKeepAlive === 0) this.#keepAlive();
    this.#nextBeat = this.#schedule();
  }

  #keepAlive(): void {
    const { subscriptions, waiting } = this.#deps;
    this.#recheckTokens();
    this.#eachSession(({ streams }) => streams.write(sseComment));
    for (const { events } of subscriptions.all()) events.write(sseComment);
    waiting.write(sseComment);
  }

  #recheckTokens(): void {
    const { authenticator, sessions, subscriptions } = this.#deps;
    for (const session of sessions.all()) {
      if (!authenticator.isOwner(session.owner)) sessions.end(session);
    }
    for (const subscription of subscriptions.all()) {
      if (!authenticator.isGood(subscription.authorization)) subscription.end();
    }
  }

  /** A defect in one session ends that session; the others go on. */
  #eachSession(work: (session: HttpSession) => void): void {
    const { sessions, logger } = this.#deps;
    for (const session of [...sessions.all()]) {
      try {
        work(session);
      } catch (error) {
        logger.error('client.defect-contained', defectFields(error));
        sessions.end(session);
      }
    }
  }
}
