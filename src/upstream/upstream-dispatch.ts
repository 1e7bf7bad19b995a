import type { AgentAccount } from '../base/index.ts';
import type { Withheld } from '../domain/index.ts';
import { withinTimeout } from './connecting/connect-timeout.ts';
import type { Connection } from './connecting/connection.ts';
import type { IsolatedConnections } from './connecting/isolated-connections.ts';
import { unlisted } from './failures.ts';
import type { UpstreamDispatch } from './handles.ts';
import type { UpdateListener } from './subscriptions/update-listeners.ts';
import type { FailedReply, PendingRequest } from './transport.ts';
import type { UpstreamParts } from './upstream-parts.ts';

/** Requests to a server on behalf of a caller. */
export class ServerDispatch implements UpstreamDispatch {
  readonly #parts: UpstreamParts;
  readonly isolated: IsolatedConnections | undefined;

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
    this.isolated = parts.isolated;
  }

  get connection(): Connection | undefined {
    const { connector, listing } = this.#parts;
    const { connection } = connector;
    return connection === undefined || listing.isChecked(connection) ? connection : undefined;
  }

  get withheld(): Withheld | undefined {
    return this.#parts.listing.catalog?.withheld;
  }

  connect(): Promise<Connection> {
    const { connector, deps, spec } = this.#parts;
    const connection = connector.connect('call').then((opened) => this.#checked(opened));
    return this.connection === undefined ? withinTimeout(deps.clock, spec, connection) : connection;
  }

  /** A server may come back with other definitions. Where a lockfile decides, they are compared before anything is sent. */
  async #checked(connection: Connection): Promise<Connection> {
    const { listing, spec } = this.#parts;
    if (listing.isChecked(connection)) return connection;
    await listing.refresh(connection);
    if (listing.isChecked(connection)) return connection;
    throw listing.error ?? unlisted(spec.name, 'the connection was lost before its lists were read');
  }

  enter(account?: AgentAccount): boolean {
    const { calls, spec } = this.#parts;
    return calls.enter(spec.limits.concurrency, account);
  }

  leave(account?: AgentAccount): void {
    this.#parts.calls.leave(account);
  }

  get busy(): boolean {
    return this.hasCalls || this.#parts.subscriptions.size > 0;
  }

  get hasCalls(): boolean {
    return this.#parts.calls.count > 0;
  }

  reportLoss(connection: Connection, failure: FailedReply): void {
    // A single reset says little. A refused connection, a forgotten session or a dead child means that it is lost.
    if (!failure.sent) this.#parts.connector.lose(connection, failure.error);
  }

  subscribe(connection: Connection, uri: string, account?: AgentAccount): PendingRequest {
    return this.#parts.subscriptions.subscribe(connection, uri, account);
  }

  unsubscribe(uri: string, account?: AgentAccount): void {
    this.#parts.subscriptions.unsubscribe(uri, account);
  }

  onUpdated(uri: string, listener: UpdateListener): () => void {
    return this.#parts.updates.add(uri, listener);
  }
}
