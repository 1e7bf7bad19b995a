import type { Clock, Timer } from '../../base/index.ts';
import type { Call } from '../../calls/index.ts';
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
  /** Calls that the client may still cancel, by its own request ids. */
  calls: Map<string | number, Call> | undefined;
  stream: OpenStream | undefined;
}

export interface OpenStream {
  readonly events: EventStream;
  readonly chain: readonly string[];
  /** The list of tools as this client last had reason to know it. */
  toolsText: string;
  /** What proved the right to it, to be proved again. */
  readonly authorization: string | undefined;
}

export interface ClientSessions {
  open(owner: string, protocolVersion: string): ClientSession;
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
    session.calls = undefined;
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
    open(owner, protocolVersion) {
      if (sessions.size >= options.max) evictOldest();
      const session: ClientSession = {
        id: deps.newId(),
        owner,
        protocolVersion,
        lastRequest: clock.monotonic(),
        listedAt: undefined,
        calls: undefined,
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
