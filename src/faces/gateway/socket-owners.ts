import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** An open connection. It belongs to the agent whose token its last request had. */
export interface GatewayConnection {
  readonly socket: Socket;
  readonly address: string;
  /** Undefined until a request on it came with a valid token. */
  owner: string | undefined;
  unauthenticatedSince: number;
  /** The response to its last request. */
  response: ServerResponse | undefined;
}

/** Which connections belong to which agent, and which to none; each set has its oldest first. */
export class ConnectionOwners {
  readonly #unauthenticated = new Set<GatewayConnection>();
  readonly #owned = new Map<string, Set<GatewayConnection>>();

  get unauthenticated(): ReadonlySet<GatewayConnection> {
    return this.#unauthenticated;
  }

  /** How many connections an agent has. */
  count(owner: string): number {
    return this.#owned.get(owner)?.size ?? 0;
  }

  addUnproved(connection: GatewayConnection): void {
    this.remove(connection);
    connection.owner = undefined;
    this.#unauthenticated.add(connection);
  }

  addOwned(connection: GatewayConnection, owner: string): void {
    this.remove(connection);
    connection.owner = owner;
    const own = this.#owned.get(owner);
    if (own === undefined) this.#owned.set(owner, new Set([connection]));
    else own.add(connection);
  }

  remove(connection: GatewayConnection): void {
    const { owner } = connection;
    this.#unauthenticated.delete(connection);
    if (owner === undefined) return;
    const own = this.#owned.get(owner);
    own?.delete(connection);
    if (own?.size === 0) this.#owned.delete(owner);
  }

  /** The oldest connection without a token, from this address if one is given. */
  oldestUnauthenticated(address?: string): GatewayConnection | undefined {
    for (const connection of this.#unauthenticated) {
      if (address === undefined || connection.address === address) return connection;
    }
    return undefined;
  }

  countUnauthenticated(address: string): number {
    let count = 0;
    for (const connection of this.#unauthenticated) if (connection.address === address) count++;
    return count;
  }

  /** The oldest idle connection of an agent. */
  oldestIdle(owner: string): GatewayConnection | undefined {
    return oldestIdleOf(this.#owned.get(owner));
  }

  /** The oldest idle connection of the agent that has most. */
  oldestIdleOfLargest(): GatewayConnection | undefined {
    let largest: ReadonlySet<GatewayConnection> | undefined;
    for (const own of this.#owned.values()) if (largest === undefined || own.size > largest.size) largest = own;
    return oldestIdleOf(largest);
  }
}

/** Idle: no response is being sent on it. */
function oldestIdleOf(connections: ReadonlySet<GatewayConnection> | undefined): GatewayConnection | undefined {
  for (const connection of connections ?? []) {
    const { response } = connection;
    if (response === undefined || response.writableFinished || response.destroyed) return connection;
  }
  return undefined;
}
