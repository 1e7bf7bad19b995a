import { type Clock, HubError, type Timer } from '../../base/index.ts';

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
  /** A call of it is under way. */
  readonly busy: boolean;
  /** Lets go of whatever it holds. */
  close(): void;
}

/** What is known of a session before it is there. */
export interface SessionFacts extends Pick<ClientSession, 'id' | 'owner' | 'lastRequest'> {
  /** What all sessions of the owner keep together. */
  readonly kept: KeptBytes;
}

/** Bytes of events that are kept for clients that come back; counted by whoever keeps them. */
export interface KeptBytes {
  total: number;
}

/** Sessions of one token: more than any real client has, few enough to leave room for others. */
const maxSessionsPerOwner = 1000;

export interface ClientSessions<Session extends ClientSession> {
  /** Throws HubError when its owner has as many as it may, each with a call under way. */
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
  options: { readonly idleMs: number; readonly max: number; readonly maxPerOwner?: number },
): ClientSessions<Session> {
  const { clock } = deps;
  const maxPerOwner = Math.min(options.maxPerOwner ?? maxSessionsPerOwner, options.max);
  const sessions = new Map<string, Session>();
  const owners = new Map<string, OwnSessions<Session>>();
  let sweep: Timer | undefined;

  function end(session: Session): void {
    if (!sessions.delete(session.id)) return;
    const own = owners.get(session.owner);
    own?.sessions.delete(session);
    if (own?.sessions.size === 0) owners.delete(session.owner);
    session.close();
  }

  function sweepIdle(): void {
    const limit = clock.monotonic() - options.idleMs;
    for (const session of sessions.values()) if (session.lastRequest <= limit) end(session);
    sweep = sessions.size === 0 ? undefined : clock.setTimer(sweepEveryMs(options.idleMs), sweepIdle);
  }

  /** Who has most makes room for the others, and loses what was silent for longest; it will initialize again. */
  function makeRoom(): void {
    let largest: OwnSessions<Session> | undefined;
    for (const own of owners.values()) {
      if (largest === undefined || own.sessions.size > largest.sessions.size) largest = own;
    }
    const evicted = largest && (oldestIdle(largest.sessions) ?? oldest(largest.sessions));
    if (evicted !== undefined) end(evicted);
  }

  function makeOwnRoom({ sessions: own }: OwnSessions<Session>): void {
    const evicted = oldestIdle(own);
    if (evicted === undefined) throw tooManySessions(own.size);
    end(evicted);
  }

  return {
    open(owner, create) {
      const before = owners.get(owner);
      if (before !== undefined && before.sessions.size >= maxPerOwner) makeOwnRoom(before);
      else if (sessions.size >= options.max) makeRoom();
      // Its last session may just have gone.
      const own = owners.get(owner) ?? { sessions: new Set(), kept: before?.kept ?? { total: 0 } };
      const session = create({ id: deps.newId(), owner, lastRequest: clock.monotonic(), kept: own.kept });
      owners.set(owner, own);
      own.sessions.add(session);
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

interface OwnSessions<Session> {
  readonly sessions: Set<Session>;
  readonly kept: KeptBytes;
}

function oldestIdle<Session extends ClientSession>(sessions: Iterable<Session>): Session | undefined {
  return oldest([...sessions].filter(({ busy }) => !busy));
}

function oldest<Session extends ClientSession>(sessions: Iterable<Session>): Session | undefined {
  let found: Session | undefined;
  for (const session of sessions) {
    if (found === undefined || session.lastRequest < found.lastRequest) found = session;
  }
  return found;
}

function tooManySessions(count: number): HubError {
  return new HubError('OVERLOADED', `This token has ${count} sessions, each with a call under way.`, {
    hint: 'Wait for some calls to end, or end sessions with DELETE.',
  });
}

function sweepEveryMs(idleMs: number): number {
  return Math.min(Math.max(idleMs / 10, 100), 30_000);
}
