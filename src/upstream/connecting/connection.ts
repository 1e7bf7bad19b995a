import type { HubError } from '../../base/index.ts';
import type { Catalog, ServerSpec, TransportKind } from '../../domain/index.ts';
import type { Era } from '../../mcp/index.ts';
import type { DiscoveryOutcome } from '../catalog/discovery.ts';
import type { FailedReply, PendingRequest, UpstreamRequest } from '../transport.ts';
import type { AttemptDeps } from './attempt.ts';
import type { ExclusiveAccess } from './exclusive-access.ts';
import type { ServerDescription } from './handshake.ts';
import type { RequestedLogLevel } from './requested-log-level.ts';
import type { FallbackOptions, Via } from './transport-fallback.ts';

/** A live connection after its handshake. */
export interface Connection {
  readonly transport: TransportKind;
  readonly era: Era;
  readonly protocolVersion: string;
  readonly sessionId: string | null;
  /** What the server says about itself. */
  readonly about: ServerDescription;
  readonly proven: boolean;
  readonly queuedBytes: number;
  /** If defined, the calls of different clients take turns. */
  readonly exclusiveAccess: ExclusiveAccess | undefined;
  /** A message from the server that names no call can still be attributed to a client. */
  readonly canAttributeMessages: boolean;
  /** Sets the log level. Undefined if the server has no log, or its messages cannot be attributed to a client. */
  readonly log: RequestedLogLevel | undefined;
  send(request: UpstreamRequest): PendingRequest;
  notify(method: string): void;
  /** Asks the server to report changes of the resource. The reply is the server's. */
  subscribe(uri: string): PendingRequest;
  unsubscribe(uri: string): void;
  /** Lists what the server offers. `before` is the last known catalog. */
  discover(before: Catalog | undefined): Promise<DiscoveryOutcome>;
  close(): Promise<void>;
}

export type ConnectionOutcome =
  | { readonly kind: 'connected'; readonly connection: Connection; readonly via: Via }
  | { readonly kind: 'failed'; readonly failure: FailedReply };

export interface ConnectionEvents {
  /** The server says that one of its lists changed. */
  onListChanged(): void;
  /** A resource has changed. */
  onResourceUpdated(params: Readonly<Record<string, unknown>>): void;
  /** The hub may have missed announcements. */
  onGap(): void;
  /** A notification for the client that owns the connection. */
  onNotice(method: string, params: Readonly<Record<string, unknown>>): void;
  onLost(error: HubError): void;
  /** The server refused the credential: it answered a request with 401, 403 or 451. */
  onRefused(error: HubError): void;
  /** The server answered a request again after a refusal. */
  onAccepted(): void;
}

export interface ConnectionDeps extends Omit<AttemptDeps, 'events'> {
  readonly events: ConnectionEvents;
}

export interface ConnectionOptions {
  readonly spec: ServerSpec;
  readonly client: { readonly name: string; readonly version: string };
  readonly terms: FallbackOptions['terms'];
  readonly known: FallbackOptions['known'];
  /** Cancels the attempt. */
  readonly signal: AbortSignal;
  readonly start: FallbackOptions['start'];
}
