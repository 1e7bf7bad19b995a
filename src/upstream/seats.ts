import { type Clock, HubError, type Timer } from '../base/index.ts';
import type { Isolation, ServerLoad, ServerSpec } from '../domain/index.ts';
import type { ConnectionSeat } from './attempt.ts';
import { lostConnection } from './failures.ts';
import type { UpstreamDispatch, UpstreamHandles } from './handles.ts';

/** The connections of a server that not everybody shares: one for each agent, or for each client session. */
export interface Seats {
  /** The same for all who share a connection. */
  keyOf(request: SeatRequest): string;
  /** Opens what is not there yet; throws HubError when there are too many. */
  at(request: SeatRequest): UpstreamDispatch;
  /** The client is gone: nobody will use its connection again. */
  endSession(session: string): void;
  /** A notification for the servers of that session. */
  tell(session: string, method: string): void;
  /** The same connections under other limits. */
  replaceSpec(spec: ServerSpec): void;
  /** Lets calls under way finish, then closes. */
  retire(): Promise<void>;
  loads(): readonly ServerLoad[];
  close(): Promise<void>;
}

export interface SeatRequest {
  readonly agent: string;
  readonly session: string;
  /** What the client can be asked, as a JSON object. */
  readonly capabilities: string;
}

export interface SeatsDeps {
  readonly clock: Clock;
  open(spec: ServerSpec, seat: ConnectionSeat): UpstreamHandles;
}

/** Whatever a client may be asked; whether the one at hand can answer is found out when it is asked. */
export const everyCapability = '{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{}}';

const maxSeats = 64;
/** Clients seldom say goodbye. */
const idleMs = 10 * 60_000;

interface Seat {
  readonly handles: UpstreamHandles;
  readonly session: string;
  lastUsed: number;
}

export function createSeats(deps: SeatsDeps, first: ServerSpec, isolation: Exclude<Isolation, 'shared'>): Seats {
  const { clock } = deps;
  const { name: server } = first;
  let spec = first;
  let closed = false;
  const seats = new Map<string, Seat>();
  const leaving = new Set<Promise<void>>();
  let sweep: Timer | undefined;

  function letGo(key: string, { handles }: Seat): void {
    seats.delete(key);
    const gone = handles.control.retire().finally(() => leaving.delete(gone));
    leaving.add(gone);
  }

  function sweepIdle(): void {
    const limit = clock.monotonic() - idleMs;
    for (const [key, seat] of seats) if (seat.lastUsed <= limit && !seat.handles.dispatch.busy) letGo(key, seat);
    sweep = seats.size === 0 ? undefined : clock.setTimer(idleMs / 10, sweepIdle);
  }

  /** Room is made at the expense of whoever has been silent for longest. */
  function makeRoom(): void {
    if (seats.size < maxSeats) return;
    const idle = [...seats].filter(([, { handles }]) => !handles.dispatch.busy);
    const [oldest] = idle.sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (oldest === undefined) throw tooMany(server);
    letGo(...oldest);
  }

  function open(key: string, { session, capabilities }: SeatRequest): Seat {
    makeRoom();
    const perSession = isolation === 'per-session';
    const offered = perSession ? capabilities : everyCapability;
    const seat: Seat = {
      handles: deps.open(spec, { capabilities: offered, exclusive: true, session: perSession ? session : undefined }),
      session,
      lastUsed: clock.monotonic(),
    };
    seats.set(key, seat);
    sweep ??= clock.setTimer(idleMs / 10, sweepIdle);
    return seat;
  }

  function keyOf({ agent, session, capabilities }: SeatRequest): string {
    return isolation === 'per-agent' ? agent : [agent, session, capabilities].join('\n');
  }

  return {
    keyOf,
    at(request) {
      if (closed) throw lostConnection(server, 'it was removed from the configuration', false).error;
      const key = keyOf(request);
      const seat = seats.get(key) ?? open(key, request);
      seat.lastUsed = clock.monotonic();
      return seat.handles.dispatch;
    },
    endSession(session) {
      if (isolation === 'per-agent') return;
      for (const [key, seat] of seats) if (seat.session === session) letGo(key, seat);
    },
    tell(session, method) {
      if (isolation === 'per-agent') return;
      for (const seat of seats.values()) if (seat.session === session) seat.handles.dispatch.link?.notify(method);
    },
    loads: () => [...seats.values()].map(({ handles }) => handles.control.load()),
    replaceSpec(next) {
      spec = next;
      for (const { handles } of seats.values()) handles.control.replaceSpec(next);
    },
    async retire() {
      closed = true;
      sweep?.cancel();
      for (const [key, seat] of seats) letGo(key, seat);
      await Promise.all(leaving);
    },
    async close() {
      closed = true;
      sweep?.cancel();
      const open = [...seats.values()];
      seats.clear();
      await Promise.all([...open.map(({ handles }) => handles.control.close()), ...leaving]);
    },
  };
}

function tooMany(server: string): HubError {
  return new HubError('OVERLOADED', `Server "${server}" has ${maxSeats} connections of its own, all in use.`, {
    hint: 'Wait for clients to end, or share connections with `isolation: per-agent`.',
    details: { server },
  });
}
