import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, HubError, type Logger, type Timer } from '../../base/index.ts';
import type { ConnectionLimits } from './connection-limits.ts';

/**
 * The open connections, and whose they are: a connection belongs to the token of its last request. Whoever has proved
 * nothing shares a few places, and makes room for whoever comes next; so connections without a token, however many,
 * take nothing from those with one. Each token has a bound of its own.
 */
export interface Connections {
  /** A request came; its answer keeps the connection busy. */
  begin(socket: Socket, response: ServerResponse): void;
  /** It came with a valid token. Throws HubError when its owner has too many connections, all of them busy. */
  prove(socket: Socket, owner: string): void;
  /** It proved nothing. */
  unprove(socket: Socket): void;
  /** Ends those on which nothing was said: Node takes them for busy ones. */
  closeUnused(): void;
  close(): void;
}

export interface ConnectionsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ConnectionsOptions {
  readonly limits: ConnectionLimits;
  /** How long a connection may stay without a valid token. */
  readonly unprovedMs: number;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Undefined for one that has proved nothing. */
  owner: string | undefined;
  unprovedSince: number;
  /** To its last request. */
  response: ServerResponse | undefined;
}

interface TrackedSocket extends Socket {
  /** On the socket itself: looked at with every request. */
  [tracked]?: Connection;
}

const tracked = Symbol('connection');

export function trackConnections(server: Server, deps: ConnectionsDeps, options: ConnectionsOptions): Connections {
  const { clock, logger } = deps;
  const { limits, unprovedMs } = options;
  /** Oldest first, as the others. */
  const unproved = new Set<Connection>();
  const owners = new Map<string, Set<Connection>>();
  let open = 0;
  let dropped = 0;
  let sweep: Timer | undefined;
  let closed = false;

  server.on('connection', (socket: TrackedSocket) => {
    const address = socket.remoteAddress ?? '';
    const connection: Connection = { socket, address, owner: undefined, unprovedSince: 0, response: undefined };
    socket[tracked] = connection;
    open++;
    socket.once('close', () => {
      leave(connection);
      open--;
    });
    makeRoom(connection);
    if (!socket.destroyed) enterUnproved(connection);
  });

  function makeRoom({ address, socket }: Connection): void {
    if (!isLoopback(address)) {
      const neighbours = [...unproved].filter((each) => each.address === address);
      if (neighbours.length >= limits.unprovedPerAddress) drop(neighbours[0]);
    }
    if (unproved.size >= limits.unproved) drop(first(unproved));
    if (open <= limits.total) return;
    const spare = first(unproved) ?? idleOf(largest(owners.values()));
    if (spare === undefined) socket.destroy();
    else drop(spare);
  }

  function enterUnproved(connection: Connection): void {
    connection.owner = undefined;
    connection.unprovedSince = clock.monotonic();
    unproved.add(connection);
    if (!closed) sweep ??= clock.setTimer(unprovedMs / 2, sweepUnproved);
  }

  function leave(connection: Connection): void {
    unproved.delete(connection);
    if (connection.owner === undefined) return;
    const own = owners.get(connection.owner);
    own?.delete(connection);
    if (own?.size === 0) owners.delete(connection.owner);
  }

  /** Its place is free at once; the descriptor is closed in the same turn. */
  function drop(connection: Connection | undefined): void {
    if (connection === undefined) return;
    leave(connection);
    connection.socket.destroy();
    dropped++;
    // Whatever is dropped while others are kept is told once, not each time.
    if (dropped === 1) logger.warn('gateway.connections-dropped', { unproved: unproved.size, open });
  }

  function sweepUnproved(): void {
    sweep = undefined;
    const limit = clock.monotonic() - unprovedMs;
    for (const connection of unproved) {
      if (connection.unprovedSince > limit) break;
      leave(connection);
      connection.socket.destroy();
    }
    if (dropped > 1) logger.warn('gateway.connections-dropped', { count: dropped, open });
    dropped = 0;
    if (unproved.size > 0 && !closed) sweep = clock.setTimer(unprovedMs / 2, sweepUnproved);
  }

  return {
    begin(socket: TrackedSocket, response) {
      const connection = socket[tracked];
      if (connection !== undefined) connection.response = response;
    },
    prove(socket: TrackedSocket, owner) {
      const connection = socket[tracked];
      if (connection === undefined || connection.owner === owner || socket.destroyed) return;
      const own = owners.get(owner) ?? new Set();
      if (own.size >= limits.perOwner) {
        const idle = idleOf(own);
        if (idle === undefined) throw tooManyConnections(own.size);
        drop(idle);
      }
      leave(connection);
      connection.owner = owner;
      owners.set(owner, own.add(connection));
    },
    unprove(socket: TrackedSocket) {
      const connection = socket[tracked];
      if (connection?.owner === undefined) return;
      leave(connection);
      enterUnproved(connection);
    },
    closeUnused() {
      for (const { socket } of unproved) if (socket.bytesRead === 0) socket.destroy();
    },
    close() {
      closed = true;
      sweep?.cancel();
    },
  };
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.');
}

function first(connections: ReadonlySet<Connection>): Connection | undefined {
  for (const connection of connections) return connection;
  return undefined;
}

/** The oldest on which no answer is under way. */
function idleOf(connections: ReadonlySet<Connection> | undefined): Connection | undefined {
  for (const connection of connections ?? []) {
    const { response } = connection;
    if (response === undefined || response.writableFinished || response.destroyed) return connection;
  }
  return undefined;
}

function largest(sets: Iterable<ReadonlySet<Connection>>): ReadonlySet<Connection> | undefined {
  let found: ReadonlySet<Connection> | undefined;
  for (const set of sets) if (found === undefined || set.size > found.size) found = set;
  return found;
}

function tooManyConnections(count: number): HubError {
  return new HubError('OVERLOADED', `This token has ${count} connections, each with an answer under way.`, {
    hint: 'Close some streams, or wait for calls to end.',
  });
}
