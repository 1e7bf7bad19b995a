import type { Clock, HubError, Logger } from '../base/index.ts';
import type { Catalog, ServerLoad, ServerSpec, ServerStatus } from '../domain/index.ts';
import type { ConnectionSeat } from './attempt.ts';
import type { Children } from './children/index.ts';
import type { Link } from './link.ts';
import type { ServerMemory } from './remembered.ts';
import type { Seats } from './seats.ts';
import type { StartPriority, StartQueue } from './start-queue.ts';
import type { WireCall, WireFailure } from './wire.ts';

/** The hub's own hold on a server: state, discovery, life cycle. */
export interface UpstreamControl {
  readonly spec: ServerSpec;
  /** What it offers: unknown until it was asked, and again when it has been away for longer than its grace. */
  readonly catalog: Catalog | undefined;
  /** What it offered when it was last asked, however long it is away. */
  readonly lastCatalog: Catalog | undefined;
  status(): ServerStatus;
  load(): ServerLoad;
  /** What went wrong last, with all that is known about it. */
  readonly failure: HubError | undefined;
  /**
   * Connects where needed and asks for what the server offers; resolves when that is done or has failed. A server that
   * waits for others to start goes as early as the most important of those who wait for it; a list, where none is given.
   */
  refresh(priority?: StartPriority): Promise<void>;
  /** The same, at once: whoever asks knows more than the breaker does. */
  retry(): Promise<void>;
  /** Closes a connection over which nobody has called anything; the next call opens it again. */
  letGoUnused(): void;
  /** The same connection under changed filters or limits. */
  replaceSpec(spec: ServerSpec): void;
  /** Lets calls under way finish, then closes. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

/** The hold on a server on behalf of a caller. Only `calls/` has it. */
export interface UpstreamDispatch {
  /** The live connection, if there is one. */
  readonly link: Link | undefined;
  /** Connects, single-flight; throws HubError with the next step when the server is away. */
  connect(): Promise<Link>;
  /** False when the server is at its limit. */
  enter(): boolean;
  leave(): void;
  readonly busy: boolean;
  /** Where not all callers share a connection; calls then go through the one that they have. */
  readonly seats: Seats | undefined;
  /** Changes of the resource are heard of from now on; the reply is the server's own. */
  watch(link: Link, uri: string): WireCall;
  /** Whoever watched it does not care any more. */
  unwatch(uri: string): void;
  /** Of what is watched over these connections, something has changed, or changes of it may have passed unheard. */
  onUpdated(listener: (uri: string) => void): () => void;
  /** A call learnt that the link is dead before the link did. */
  reportLoss(link: Link, failure: WireFailure): void;
}

export interface UpstreamDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly children: Children;
  /** Shared by all servers of the hub. */
  readonly starts: StartQueue;
  readonly memory: ServerMemory;
  /** Takes secrets out of what a server says; its words end up in errors and logs. */
  readonly redact: (text: string) => string;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  readonly onChange: (server: string) => void;
  /** What was read of the server may be wrong by now; with a URI, of that resource. */
  readonly onStale: (server: string, uri?: string) => void;
  /** A server says something to the client session that has the connection to itself. */
  readonly onNotice: (session: string, method: string, params: Readonly<Record<string, unknown>>) => void;
}

export interface UpstreamOptions {
  readonly spec: ServerSpec;
  readonly client: { readonly name: string; readonly version: string };
  /** A connection of one caller: it is neither listed nor opened again before somebody needs it. */
  readonly seat?: ConnectionSeat;
  /** Calls under way over all connections that count together; without it, over this one. */
  readonly underWay?: () => number;
}

export interface UpstreamHandles {
  readonly control: UpstreamControl;
  readonly dispatch: UpstreamDispatch;
}
