import { type Clock, HubError, type Timer } from '../../../base/index.ts';

/**
 * The session of a legacy client. It carries no rights: every request is authenticated, and only the token that opened
 * the session can use it. Clients seldom end their sessions, so one ends when no request has come for a while, even if
 * it has open streams.
 */
export interface ClientSession {
  readonly id: string;
  /** The id of the token that opened it; for any other token the session does not exist. */
  readonly owner: string;
  lastRequest: number;
  /** It has a call in flight. */
  readonly busy: boolean;
  /** Releases everything it holds. */
  close(): void;
}

/** The facts a session is created from. */
export interface SessionFacts extends Pick<ClientSession, 'id' | 'owner' | 'lastRequest'> {
  /** Events buffered for all sessions of the owner. */
  readonly kept: BufferedBytes;
}

/** Bytes of events that are buffered for clients that reconnect; the buffers keep the count. */
export interface BufferedBytes {
  total: number;
}

/** Sessions of one token: more than any real client has, few enough to leave room for others. */
const maxSessionsPerOwner = 1000;

export interface ClientSessionsDeps {
  readonly clock: Clock;
  readonly newId: () => string;
}

export interface ClientSessionsOptions {
  readonly idleMs: number;
  readonly max: number;
  readonly maxPerOwner?: number;
}

/** The open sessions of all clients, bounded in number and per token. */
export class ClientSessions<Session extends ClientSession> {
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #idleMs: number;
  readonly #max: number;
  readonly #maxPerOwner: number;
  readonly #sessions = new Map<string, Session>();
  readonly #owners = new Map<string, OwnSessions<Session>>();
  #sweep: Timer | undefined;

  constructor({ clock, newId }: ClientSessionsDeps, { idleMs, max, maxPerOwner }: ClientSessionsOptions) {
    this.#clock = clock;
    this.#newId = newId;
    this.#idleMs = idleMs;
    this.#max = max;
    this.#maxPerOwner = Math.min(maxPerOwner ?? maxSessionsPerOwner, max);
  }

  /** Throws HubError when the owner has as many sessions as it may, each with a call in flight. */
  open(owner: string, create: (facts: SessionFacts) => Session): Session {
    const before = this.#owners.get(owner);
    if (before !== undefined && before.sessions.size >= this.#maxPerOwner) this.#evictOwn(before);
    else if (this.#sessions.size >= this.#max) this.#evictAny();
    // The owner's last session may just have been evicted.
    const own = this.#owners.get(owner) ?? { sessions: new Set(), kept: before?.kept ?? { total: 0 } };
    const session = create({ id: this.#newId(), owner, lastRequest: this.#clock.monotonic(), kept: own.kept });
    this.#owners.set(owner, own);
    own.sessions.add(session);
    this.#sessions.set(session.id, session);
    this.#sweep ??= this.#scheduleSweep();
    return session;
  }

  /** Counts as a request of the session. */
  find(id: string, owner: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== owner) return undefined;
    session.lastRequest = this.#clock.monotonic();
    return session;
  }

  end(session: Session): void {
    if (!this.#sessions.delete(session.id)) return;
    const own = this.#owners.get(session.owner);
    own?.sessions.delete(session);
    if (own?.sessions.size === 0) this.#owners.delete(session.owner);
    session.close();
  }

  all(): Iterable<Session> {
    return this.#sessions.values();
  }

  get size(): number {
    return this.#sessions.size;
  }

  close(): void {
    this.#sweep?.cancel();
    for (const session of this.#sessions.values()) this.end(session);
  }

  #scheduleSweep(): Timer {
    return this.#clock.setTimer(sweepEveryMs(this.#idleMs), () => this.#sweepIdle());
  }

  #sweepIdle(): void {
    const limit = this.#clock.monotonic() - this.#idleMs;
    for (const session of this.#sessions.values()) if (session.lastRequest <= limit) this.end(session);
    this.#sweep = this.#sessions.size === 0 ? undefined : this.#scheduleSweep();
  }

  /** The token with most sessions loses the one that was silent for longest; its client will initialize again. */
  #evictAny(): void {
    let largest: OwnSessions<Session> | undefined;
    for (const own of this.#owners.values()) {
      if (largest === undefined || own.sessions.size > largest.sessions.size) largest = own;
    }
    const evicted = largest && (oldestIdle(largest.sessions) ?? oldest(largest.sessions));
    if (evicted !== undefined) this.end(evicted);
  }

  #evictOwn({ sessions }: OwnSessions<Session>): void {
    const evicted = oldestIdle(sessions);
    if (evicted === undefined) throw tooManySessions(sessions.size);
    this.end(evicted);
  }
}

interface OwnSessions<Session> {
  readonly sessions: Set<Session>;
  readonly kept: BufferedBytes;
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
  return new HubError('OVERLOADED', `This token has ${count} sessions, each with a call in flight.`, {
    hint: 'Wait for some calls to end, or end sessions with DELETE.',
  });
}

function sweepEveryMs(idleMs: number): number {
  return Math.min(Math.max(idleMs / 10, 100), 30_000);
}
