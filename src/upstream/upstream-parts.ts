import { containTimers, type HubError } from '../base/index.ts';
import type { ServerSpec } from '../domain/index.ts';
import { createListing, type Listing } from './catalog/listing.ts';
import { expectation, type ServerMemory } from './catalog/remembered.ts';
import type { IsolationTerms } from './connecting/attempt.ts';
import type { Connection, ConnectionEvents, ConnectionOutcome } from './connecting/connection.ts';
import { Connector } from './connecting/connector.ts';
import { everyCapability, type IsolatedConnections } from './connecting/isolated-connections.ts';
import { openConnection } from './connecting/open-connection.ts';
import type { StartPlace } from './connecting/start-queue.ts';
import type { Via } from './connecting/transport-fallback.ts';
import type { UpstreamDeps, UpstreamOptions } from './handles.ts';
import { CallsInFlight } from './state/calls-in-flight.ts';
import { CredentialRefusal } from './state/credential-refusal.ts';
import { createGrace, type Grace } from './state/grace.ts';
import { createResourceSubscriptions, type ResourceSubscriptions } from './subscriptions/resource-subscriptions.ts';
import { UpdateListeners } from './subscriptions/update-listeners.ts';
import { type Credentials, configuredCredentials } from './transports/credentials.ts';

/** The parts of one upstream server. `upstream-control.ts` and `upstream-dispatch.ts` act on them. */
export interface UpstreamParts {
  readonly deps: UpstreamDeps;
  /** May be replaced by one with the same connection key. */
  spec: ServerSpec;
  /** The hub's own connection, on which it lists, not an isolated one. */
  readonly isOwn: boolean;
  readonly isolated: IsolatedConnections | undefined;
  readonly connector: Connector;
  readonly calls: CallsInFlight;
  readonly refusal: CredentialRefusal;
  readonly credentials: Credentials;
  readonly listing: Listing;
  readonly grace: Grace;
  readonly subscriptions: ResourceSubscriptions;
  readonly updates: UpdateListeners;
}

export function createUpstreamParts(
  given: UpstreamDeps,
  options: UpstreamOptions,
  isolated: IsolatedConnections | undefined,
): UpstreamParts {
  const { spec } = options;
  const { name: server, connectionKey } = spec;
  const deps: UpstreamDeps = { ...given, clock: containTimers(given.clock, (error) => connector.defect(error)) };
  const onStateChange = (): void => deps.onServerChange(server);
  const isOwn = options.terms === undefined;
  const now = { connection: () => connector.connection, via: () => viaOf(connector) };
  const updates = new UpdateListeners(deps.logger, server);
  const onUpdated = (uri: string): void => {
    deps.onStale(server, uri);
    updates.tell(uri);
  };
  const connector: Connector = new Connector(
    {
      ...deps,
      onStateChange,
      open: (signal, start) => open(parts, options, { signal, start }),
      // Subscribers do not call again, so without a connection they would miss all changes.
      isKeptOpen: () => isOwn || parts.subscriptions.size > 0,
      hasCalls: () => parts.calls.count > 0,
      onConnected: (connection) => connected(parts, connection),
      onLost: () => parts.refusal.forget(),
      // Only the hub's own connection lists.
      onUnavailable: () => isOwn && parts.grace.begin(),
    },
    { server },
  );
  const parts: UpstreamParts = {
    deps,
    spec,
    isOwn,
    isolated,
    connector,
    calls: new CallsInFlight(deps.accounts, options.allCalls),
    refusal: new CredentialRefusal(onStateChange),
    credentials: configuredCredentials(() => parts.spec),
    listing: createListing(isOwn ? { ...deps, ...now } : { ...deps, ...now, memory: forgetful(deps.memory) }, {
      server,
      connectionKey,
      lock: spec.lock,
    }),
    grace: createGrace({ clock: deps.clock, onOver: onStateChange }, { lengthMs: spec.limits.graceMs }),
    subscriptions: createResourceSubscriptions({ ...deps, ...now, onUpdated }, { server }),
    updates,
  };
  return parts;
}

/** What an isolated connection lists is for its own client. It is read only to compare it with the lockfile. */
function forgetful({ recall }: ServerMemory): ServerMemory {
  return { recall, remember() {} };
}

function viaOf({ state }: Connector): Via | undefined {
  return state.kind === 'connected' ? state.via : undefined;
}

async function open(
  parts: UpstreamParts,
  { client, terms: given }: UpstreamOptions,
  attempt: { readonly signal: AbortSignal; readonly start: StartPlace },
): Promise<ConnectionOutcome> {
  const { deps, spec, listing } = parts;
  const { clock, logger, children, programs, redact } = deps;
  // A server's lists may depend on the client's capabilities.
  const terms = given ?? (parts.isolated && { capabilities: everyCapability(spec), exclusive: false });
  const known = expectation(listing.remembered, clock.now());
  const opened: Opened = { connection: undefined };
  const outcome = await openConnection(
    {
      clock,
      logger,
      children,
      programs,
      redact,
      credentials: parts.credentials,
      events: eventsFor(parts, terms, opened),
    },
    { spec, client, terms, known, ...attempt },
  );
  if (outcome.kind === 'connected') opened.connection = outcome.connection;
  return outcome;
}

interface Opened {
  connection: Connection | undefined;
}

function eventsFor(parts: UpstreamParts, terms: IsolationTerms | undefined, opened: Opened): ConnectionEvents {
  const { deps, connector, refusal, subscriptions } = parts;
  const isCurrent = (): boolean => opened.connection !== undefined && opened.connection === connector.connection;
  const onListChanged = (): void => {
    deps.onStale(parts.spec.name);
    if (parts.isOwn || parts.spec.lock !== undefined) parts.listing.changed();
  };
  return {
    onListChanged,
    onResourceUpdated: (params) => subscriptions.updated(params),
    onNotice: (method, params) => {
      if (terms?.session !== undefined) deps.onNotice(terms.session, method, params);
    },
    onGap: () => {
      onListChanged();
      subscriptions.missed();
    },
    onLost: (error: HubError) => opened.connection !== undefined && connector.lose(opened.connection, error),
    onRefused: (error) => isCurrent() && refusal.note(error),
    onAccepted: () => isCurrent() && refusal.lift(),
  };
}

/** Calls may use the connection at once. The lists follow. */
function connected(parts: UpstreamParts, connection: Connection): void {
  parts.calls.reset();
  parts.refusal.forget();
  parts.grace.end();
  parts.deps.onServerChange(parts.spec.name);
  if (parts.isOwn) void parts.listing.refresh(connection);
  parts.subscriptions.resume(connection).catch((error: unknown) => parts.connector.defect(error));
}
