import type { Clock, Timer } from '../../base/index.ts';
import type { KnownLists, LegacyClient } from '../mcp/index.ts';
import type { EventStream } from './response.ts';

/**
 * The sessions of legacy clients. They carry no rights: each request proves its caller anew, and a
 * session only answers to the token that opened it. Clients seldom say goodbye, so a session ends
 * when no request came for a while, whatever streams it holds open.
 */
export interface ClientSession {
  readonly id: string;
  /** Whoever opened it; a session of somebody else does not exist. */
  readonly owner: string;
  readonly protocolVersion: string;
  lastRequest: number;
  /** Which state of the lists the client last asked for. */
  listedAt: number | undefined;
  readonly client: LegacyClient;
  stream: OpenStream | undefined;
}

/** What a client may know of its own session. */
export interface OpenedSession {
  readonly id: string;
  /** On the stream that the client listens on, if it does. */
  announce(message: string): void;
}

export interface OpenStream {
  readonly events: EventStream;
  readonly chain: readonly string[];
  /** The lists as this client last had reason to know them. */
  readonly lists: KnownLists;
  /** What proved the right to it, to be proved again. */
  readonly authorization: string | undefined;
}

export interface ClientSessions {
  open(owner: string, protocolVersion: string, client: (session: OpenedSession) => LegacyClient): ClientSession;
  /** Counts as a request of the session. */
  find(id: string, owner: string): ClientSession | undefined;
  end(session: ClientSession): void;
  all(): Iterable<ClientSession>;
  readonly size: number;
  close(): void;
}

export function createClientSessions(
  deps: { readonly clock: Clock; readonly newId: () => string },
  options: { readonly idleMs: number; readonly max: number },
): ClientSessions {
  const { clock } = deps;
  const sessions = new Map<string, ClientSession>();
  let sweep: Timer | undefined;

  function end(session: ClientSession): void {
    sessions.delete(session.id);
    session.stream?.events.end();
    session.stream = undefined;
    session.client.close();
  }

  function sweepIdle(): void {
    const limit = clock.monotonic() - options.idleMs;
    for (const session of sessions.values()) if (session.lastRequest <= limit) end(session);
    sweep = sessions.size === 0 ? undefined : clock.setTimer(sweepEveryMs(options.idleMs), sweepIdle);
  }

  /** Room is made at the expense of whoever has been silent for longest; it will initialize again. */
  function evictOldest(): void {
    let oldest: ClientSession | undefined;
    for (const session of sessions.values()) {
      if (oldest === undefined || session.lastRequest < oldest.lastRequest) oldest = session;
    }
    if (oldest !== undefined) end(oldest);
  }

  return {
    open(owner, protocolVersion, client) {
      if (sessions.size >= options.max) evictOldest();
      const id = deps.newId();
      const announce = (message: string): void => session.stream?.events.send(message);
      const session: ClientSession = {
        id,
        owner,
        protocolVersion,
        lastRequest: clock.monotonic(),
        listedAt: undefined,
        client: client({ id, announce }),
        stream: undefined,
      };
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
