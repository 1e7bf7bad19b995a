import type { Clock, Timer } from '../../base/index.ts';

/**
 * The sessions of clients that shook hands. They carry no rights: each request proves its caller anew, and a
 * session only answers to the token that opened it. Clients seldom say goodbye, so a session ends
 * when no request came for a while, whatever streams it holds open.
 */
export interface ClientSession {
  readonly id: string;
  /** Whoever opened it; a session of somebody else does not exist. */
  readonly owner: string;
  lastRequest: number;
  /** Lets go of whatever it holds. */
  close(): void;
}

/** What is known of a session before it is there. */
export type SessionFacts = Pick<ClientSession, 'id' | 'owner' | 'lastRequest'>;

export interface ClientSessions<Session extends ClientSession> {
  open(owner: string, create: (facts: SessionFacts) => Session): Session;
  /** Counts as a request of the session. */
  find(id: string, owner: string): Session | undefined;
  end(session: Session): void;
  all(): Iterable<Session>;
  readonly size: number;
  close(): void;
}

export function createClientSessions<Session extends ClientSession>(
  deps: { readonly clock: Clock; readonly newId: () => string },
  options: { readonly idleMs: number; readonly max: number },
): ClientSessions<Session> {
  const { clock } = deps;
  const sessions = new Map<string, Session>();
  let sweep: Timer | undefined;

  function end(session: Session): void {
    if (sessions.delete(session.id)) session.close();
  }

  function sweepIdle(): void {
    const limit = clock.monotonic() - options.idleMs;
    for (const session of sessions.values()) if (session.lastRequest <= limit) end(session);
    sweep = sessions.size === 0 ? undefined : clock.setTimer(sweepEveryMs(options.idleMs), sweepIdle);
  }

  /** Room is made at the expense of whoever has been silent for longest; it will initialize again. */
  function evictOldest(): void {
    let oldest: Session | undefined;
    for (const session of sessions.values()) {
      if (oldest === undefined || session.lastRequest < oldest.lastRequest) oldest = session;
    }
    if (oldest !== undefined) end(oldest);
  }

  return {
    open(owner, create) {
      if (sessions.size >= options.max) evictOldest();
      const session = create({ id: deps.newId(), owner, lastRequest: clock.monotonic() });
      sessions.set(session.id, session);
      sweep ??= clock.setTimer(sweepEveryMs(options.idleMs), sweepIdle);
      return session;
    },
    find(id, owner) {
      const session = sessions.get(id);
      if (session === undefined || session.owner !== owner) return undefined;
      session.lastRequest = clock.monotonic();
      return session;
    },
    end,
    all: () => sessions.values(),
    get size() {
      return sessions.size;
    },
    close() {
      sweep?.cancel();
      for (const session of sessions.values()) end(session);
    },
  };
}

function sweepEveryMs(idleMs: number): number {
  return Math.min(Math.max(idleMs / 10, 100), 30_000);
}
