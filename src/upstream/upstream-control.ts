import { isDeepStrictEqual } from 'node:util';
import { type HubError, toHubError } from '../base/index.ts';
import type { Catalog, ServerLoad, ServerSpec, ServerStatus } from '../domain/index.ts';
import type { ServerDefinitions } from './catalog/accepted-definitions.ts';
import type { StartPriority } from './connecting/start-queue.ts';
import type { UpstreamControl } from './handles.ts';
import { connectionStatus } from './state/connection-status.ts';
import type { UpstreamParts } from './upstream-parts.ts';

/** State, discovery and life cycle of a server, for the hub. */
export class ServerControl implements UpstreamControl {
  readonly #parts: UpstreamParts;

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
  }

  get spec(): ServerSpec {
    return this.#parts.spec;
  }

  get catalog(): Catalog | undefined {
    return this.#parts.grace.isOver ? undefined : this.#parts.listing.catalog;
  }

  get lastCatalog(): Catalog | undefined {
    return this.#parts.listing.catalog;
  }

  get definitions(): ServerDefinitions | undefined {
    return this.#parts.listing.definitions;
  }

  acceptListed(): void {
    this.#parts.listing.acceptListed();
  }

  get failure(): HubError | undefined {
    const { connector, refusal, listing } = this.#parts;
    const waiting = connector.state.kind === 'waiting' ? connector.state.error : undefined;
    return waiting ?? refusal.error ?? connector.lastError ?? (connector.connection && listing.error);
  }

  async refresh(priority: StartPriority = 'list'): Promise<void> {
    const { connector, listing, deps, spec } = this.#parts;
    try {
      await listing.refresh(await connector.connect(priority));
    } catch (error) {
      // The state has the error, and callers read it there.
      deps.logger.debug('upstream.refresh-failed', { server: spec.name, error: toHubError(error).message });
    }
  }

  retry(): Promise<void> {
    this.#parts.connector.retry();
    return this.refresh('call');
  }

  letGoUnused(): void {
    const { connector, calls, subscriptions } = this.#parts;
    if (!calls.isUsed && calls.count === 0 && subscriptions.size === 0) connector.release();
  }

  replaceSpec(spec: ServerSpec): void {
    const { connector, listing, grace, isolated, isOwn, spec: before } = this.#parts;
    this.#parts.spec = spec;
    grace.setLength(spec.limits.graceMs);
    listing.relock(spec.lock);
    isolated?.replaceSpec(spec);
    if (isDeepStrictEqual([before.transport, before.fallbacks], [spec.transport, spec.fallbacks])) return;
    // All other settings are in the connection key, so a credential changed. The server may accept the new one,
    // and may list other tools for it.
    connector.retry();
    if (isOwn) listing.changed();
  }

  status(): ServerStatus {
    const { connector, refusal, listing, spec } = this.#parts;
    const { catalog, failure } = this;
    const { state, connection, failures } = connector;
    const { remembered } = listing;
    const changes = listing.definitions?.changes.length ?? 0;
    const facts = { state, refused: refusal.word, connection, remembered, catalog, failure, failures, changes };
    return connectionStatus(spec, facts);
  }

  load(): ServerLoad {
    const { connector, calls, isolated, spec } = this.#parts;
    const { connection } = connector;
    const own: ServerLoad = {
      name: spec.name,
      connections: connection === undefined ? 0 : 1,
      inFlight: calls.count,
      waiting: connection?.exclusiveAccess?.waiting ?? 0,
      queuedBytes: connection?.queuedBytes ?? 0,
    };
    return (isolated?.loads() ?? []).reduce(addLoads, own);
  }

  async retire(): Promise<void> {
    const { listing, subscriptions, isolated, calls } = this.#parts;
    listing.stop();
    subscriptions.stop();
    await isolated?.retire();
    await calls.drained();
    calls.end();
    await this.close();
  }

  async close(): Promise<void> {
    const { connector, listing, subscriptions, grace, isolated } = this.#parts;
    listing.stop();
    subscriptions.stop();
    grace.end();
    await Promise.all([connector.close(), isolated?.close()]);
  }
}

function addLoads(a: ServerLoad, b: ServerLoad): ServerLoad {
  return {
    name: a.name,
    connections: a.connections + b.connections,
    inFlight: a.inFlight + b.inFlight,
    waiting: a.waiting + b.waiting,
    queuedBytes: a.queuedBytes + b.queuedBytes,
  };
}
