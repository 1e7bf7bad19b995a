import type { AgentAccount, AgentAccounts, Clock, HubError, Logger } from '../base/index.ts';
import type { Catalog, ServerLoad, ServerSpec, ServerStatus, Withheld } from '../domain/index.ts';
import type { ServerDefinitions } from './catalog/accepted-definitions.ts';
import type { ServerMemory } from './catalog/remembered.ts';
import type { Children } from './children/index.ts';
import type { IsolationTerms } from './connecting/attempt.ts';
import type { Connection } from './connecting/connection.ts';
import type { IsolatedConnections } from './connecting/isolated-connections.ts';
import type { ProgramContext } from './connecting/program-context.ts';
import type { StartPriority, StartQueue } from './connecting/start-queue.ts';
import type { CallsInFlight } from './state/calls-in-flight.ts';
import type { UpdateListener } from './subscriptions/update-listeners.ts';
import type { FailedReply, PendingRequest } from './transport.ts';

/** The hub's handle of a server: state, discovery, life cycle. */
export interface UpstreamControl {
  readonly spec: ServerSpec;
  /** Its lists. Undefined before discovery, and after it was unavailable for longer than its grace. */
  readonly catalog: Catalog | undefined;
  /** Its last lists, no matter how long it is unavailable. */
  readonly lastCatalog: Catalog | undefined;
  /** Everything that it listed last, accepted or not. For the operator: agents get `catalog`. */
  readonly definitions: ServerDefinitions | undefined;
  /** Where no lockfile says otherwise, what it lists now counts as accepted. */
  acceptListed(): void;
  status(): ServerStatus;
  load(): ServerLoad;
  /** The last failure in full. */
  readonly failure: HubError | undefined;
  /**
   * Connects if needed and reads the lists. Resolves when that succeeded or failed. A server in the start queue gets
   * the highest priority of all who wait for it. The default is `list`.
   */
  refresh(priority?: StartPriority): Promise<void>;
  /** The same at once, because the caller knows more than the breaker. */
  retry(): Promise<void>;
  /** Closes a connection that no call has used. The next call opens it again. */
  letGoUnused(): void;
  /** Keeps the connection and applies changed filters or limits. */
  replaceSpec(spec: ServerSpec): void;
  /** Lets calls in flight finish, then closes. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

/** The handle for requests on behalf of a caller. Only `calls/` has it. */
export interface UpstreamDispatch {
  /** The live connection, if there is one. */
  readonly connection: Connection | undefined;
  /** Definitions that are not the accepted ones on this connection, which may be isolated. */
  readonly withheld: Withheld | undefined;
  /** Connects, single-flight. Throws HubError with the next step if the server is unavailable. */
  connect(): Promise<Connection>;
  /** False if the server is at its limit, or if it is more than half full and the agent has its share. */
  enter(account?: AgentAccount): boolean;
  /** Takes the same account as `enter`. */
  leave(account?: AgentAccount): void;
  readonly busy: boolean;
  /** Calls are in flight. */
  readonly hasCalls: boolean;
  /** The connections of a server with `isolation`. Calls then use their own one. */
  readonly isolated: IsolatedConnections | undefined;
  /** Subscribes to a resource. The reply is the server's, or a failure if the agent has its share of them. */
  subscribe(connection: Connection, uri: string, account?: AgentAccount): PendingRequest;
  /** Ends one subscription. Takes the same account as `subscribe`. */
  unsubscribe(uri: string, account?: AgentAccount): void;
  /** For changes, and possible changes, of a resource and its parts. */
  onUpdated(uri: string, listener: UpdateListener): () => void;
  /** A call found out that the connection is dead. */
  reportLoss(connection: Connection, failure: FailedReply): void;
}

export interface UpstreamDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly children: Children;
  readonly programs: ProgramContext;
  /** Shared by all servers of the hub. */
  readonly starts: StartQueue;
  readonly memory: ServerMemory;
  /** For fair shares between agents. Without it, there are none. */
  readonly accounts?: AgentAccounts | undefined;
  /** Redacts texts of a server, which end up in errors and logs. */
  readonly redact: (text: string) => string;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  readonly onServerChange: (server: string) => void;
  /** Results of the server, or of one resource, may be outdated. */
  readonly onStale: (server: string, uri?: string) => void;
  /** A notification for the client session that owns the connection. */
  readonly onNotice: (session: string, method: string, params: Readonly<Record<string, unknown>>) => void;
}

export interface UpstreamOptions {
  readonly spec: ServerSpec;
  readonly client: { readonly name: string; readonly version: string };
  /** An isolated connection: it is not listed, and opened again only when a call needs it. */
  readonly terms?: IsolationTerms;
  /** Counts the calls of all connections that share one limit. Without it, this connection has its own limit. */
  readonly allCalls?: CallsInFlight;
}

export interface UpstreamHandles {
  readonly control: UpstreamControl;
  readonly dispatch: UpstreamDispatch;
}
