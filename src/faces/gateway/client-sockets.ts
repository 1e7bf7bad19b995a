import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, HubError, type Logger, type Timer } from '../../base/index.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { ConnectionOwners, type GatewayConnection } from './socket-owners.ts';

export interface ConnectionsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ConnectionsOptions {
  readonly limits: ConnectionLimits;
  /** How long a connection may stay without a valid token. */
  readonly unauthenticatedMs: number;
}

interface TrackedSocket extends Socket {
  /** On the socket itself, because it is read with every request. */
  [tracked]?: GatewayConnection;
}

const tracked = Symbol('connection');

/**
 * Keeps the open connections of a server within their limits. Connections without a valid token share a few places and
 * make room for each other, so however many there are, they take nothing from those with a token. Each agent has its
 * own limit, over all its tokens.
 */
export class ClientSockets {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #limits: ConnectionLimits;
  readonly #unauthenticatedMs: number;
  readonly #owners = new ConnectionOwners();
  #open = 0;
  #dropped = 0;
  #sweep: Timer | undefined;
  #closed = false;

  constructor(server: Server, { clock, logger }: ConnectionsDeps, { limits, unauthenticatedMs }: ConnectionsOptions) {
    this.#clock = clock;
    this.#logger = logger;
    this.#limits = limits;
    this.#unauthenticatedMs = unauthenticatedMs;
    server.on('connection', (socket: Socket) => this.#opened(socket));
  }

  /** A request arrived; the connection is busy until its response has been sent. */
  begin(socket: TrackedSocket, response: ServerResponse): void {
    const connection = socket[tracked];
    if (connection !== undefined) connection.response = response;
  }

  /** The request came with a valid token. Throws HubError when its owner has too many connections, all of them busy. */
  markAuthenticated(socket: TrackedSocket, owner: string): void {
    const connection = socket[tracked];
    if (connection === undefined || connection.owner === owner || socket.destroyed) return;
    const count = this.#owners.count(owner);
    if (count >= this.#limits.perOwner) {
      const idle = this.#owners.oldestIdle(owner);
      if (idle === undefined) throw tooManyConnections(count);
      this.#drop(idle);
    }
    this.#owners.addOwned(connection, owner);
  }

  /** The request came without a valid token. */
  markUnauthenticated(socket: TrackedSocket): void {
    const connection = socket[tracked];
    if (connection?.owner !== undefined) this.#addUnproved(connection);
  }

  /** Ends connections on which no byte has arrived: Node takes them for busy ones. */
  closeUnused(): void {
    for (const { socket } of this.#owners.unauthenticated) if (socket.bytesRead === 0) socket.destroy();
  }

  close(): void {
    this.#closed = true;
    this.#sweep?.cancel();
  }

  #opened(socket: TrackedSocket): void {
    const address = socket.remoteAddress ?? '';
    const connection: GatewayConnection = {
      socket,
      address,
      owner: undefined,
      unauthenticatedSince: 0,
      response: undefined,
    };
    socket[tracked] = connection;
    this.#open++;
    socket.once('close', () => {
      this.#owners.remove(connection);
      this.#open--;
    });
    this.#makeRoom(connection);
    if (!socket.destroyed) this.#addUnproved(connection);
  }

  #makeRoom({ address, socket }: GatewayConnection): void {
    const { unauthenticatedPerAddress, unauthenticated, total } = this.#limits;
    const owners = this.#owners;
    if (!isLoopback(address) && owners.countUnauthenticated(address) >= unauthenticatedPerAddress) {
      this.#drop(owners.oldestUnauthenticated(address));
    }
    if (owners.unauthenticated.size >= unauthenticated) this.#drop(owners.oldestUnauthenticated());
    if (this.#open <= total) return;
    const spare = owners.oldestUnauthenticated() ?? owners.oldestIdleOfLargest();
    if (spare === undefined) socket.destroy();
    else this.#drop(spare);
  }

  #addUnproved(connection: GatewayConnection): void {
    connection.unauthenticatedSince = this.#clock.monotonic();
    this.#owners.addUnproved(connection);
    if (!this.#closed)
      this.#sweep ??= this.#clock.setTimer(this.#unauthenticatedMs / 2, () => this.#sweepUnauthenticated());
  }

  /** Its place is free at once; the descriptor is closed in the same turn. */
  #drop(connection: GatewayConnection | undefined): void {
    if (connection === undefined) return;
    this.#owners.remove(connection);
    connection.socket.destroy();
    this.#dropped++;
    // The first one is logged at once, the others together with the next sweep.
    if (this.#dropped === 1) {
      this.#logger.warn('gateway.connections-dropped', {
        unauthenticated: this.#owners.unauthenticated.size,
        open: this.#open,
      });
    }
  }

  #sweepUnauthenticated(): void {
    this.#sweep = undefined;
    const { unauthenticated } = this.#owners;
    const limit = this.#clock.monotonic() - this.#unauthenticatedMs;
    for (const connection of unauthenticated) {
      if (connection.unauthenticatedSince > limit) break;
      this.#owners.remove(connection);
      connection.socket.destroy();
    }
    if (this.#dropped > 1) {
      this.#logger.warn('gateway.connections-dropped', { count: this.#dropped, open: this.#open });
    }
    this.#dropped = 0;
    if (unauthenticated.size > 0 && !this.#closed) {
      this.#sweep = this.#clock.setTimer(this.#unauthenticatedMs / 2, () => this.#sweepUnauthenticated());
    }
  }
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.');
}

function tooManyConnections(count: number): HubError {
  return new HubError('OVERLOADED', `This agent has ${count} connections, each with a response in progress.`, {
    hint: 'Close some streams, or wait for calls to end.',
  });
}
