import {
  type AgentAccounts,
  type Clock,
  contain,
  defectFields,
  HubError,
  type Logger,
  type RandomBytes,
  version,
} from '../base/index.ts';
import { createResultCaches, type ResultCaches } from '../calls/index.ts';
import {
  type Catalog,
  type Configuration,
  isSameConnection,
  type ServerSpec,
  type ServerStatus,
} from '../domain/index.ts';
import {
  type Children,
  type Connection,
  createUpstream,
  type ProgramContext,
  type ServerMemory,
  type StartQueue,
  type UpstreamHandles,
} from '../upstream/index.ts';
import type { NoticeListener } from './client-notices.ts';
import { createEarlyDiscovery, type EarlyDiscovery } from './early-discovery.ts';
import { createDefinitionEvents, type NoteDefinitions } from './events/definition-events.ts';
import type { EmitEvent } from './events/event-emitter.ts';
import { createServerEvents, type ServerEvents } from './events/server-events.ts';
import type { HubMeter } from './hub-meter.ts';
import { isSameCatalog } from './same-catalog.ts';
import { serverStatus } from './server-status.ts';

/** The upstream servers of the current configuration. */
export interface UpstreamPool {
  readonly upstreams: ReadonlyMap<string, UpstreamHandles>;
  /** The results of servers that have a cache. */
  readonly caches: ResultCaches;
  /** Keeps unchanged servers, starts new ones, and closes the others once their calls have finished. */
  adopt(configuration: Configuration): void;
  status(): readonly ServerStatus[];
  /** Connects servers and lists their tools. Resolves when each has answered or failed. */
  discover(servers?: readonly string[]): Promise<void>;
  /** Connects to a server now, even if it failed a moment ago. Throws if none has that name. */
  retry(server: string): void;
  /** Where no lockfile says otherwise, what this server lists now counts as accepted. Throws if none has that name. */
  acceptListed(server: string): void;
  close(): Promise<void>;
}

export interface UpstreamPoolDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly children: Children;
  readonly programs: ProgramContext;
  readonly starts: StartQueue;
  readonly memory: ServerMemory;
  readonly accounts: AgentAccounts;
  readonly redact: (text: string) => string;
  /** The lists of a server have changed. */
  readonly onServersChange: () => void;
  readonly emit: EmitEvent;
  /** By client session. */
  readonly notices: ReadonlyMap<string, NoticeListener>;
  readonly meter?: HubMeter | undefined;
}

export interface UpstreamPoolOptions {
  readonly configuration: Configuration;
  /** Connect to undiscovered servers at once instead of on first use. */
  readonly discover: boolean;
}

export function createUpstreamPool(deps: UpstreamPoolDeps, options: UpstreamPoolOptions): UpstreamPool {
  return new ConfiguredPool(deps, options);
}

/** The last known lists of the servers in use, in the order of the configuration. */
export function catalogsOf({ upstreams }: Pick<UpstreamPool, 'upstreams'>): ReadonlyMap<string, Catalog> {
  const known = new Map<string, Catalog>();
  for (const [server, { control }] of upstreams) {
    if (control.lastCatalog !== undefined) known.set(server, control.lastCatalog);
  }
  return known;
}

class ConfiguredPool implements UpstreamPool {
  readonly caches: ResultCaches;
  readonly #deps: UpstreamPoolDeps;
  readonly #early: EarlyDiscovery | undefined;
  readonly #events: ServerEvents;
  readonly #noteDefinitions: NoteDefinitions;
  readonly #catalogs = new Map<string, Catalog | undefined>();
  readonly #leaving = new Set<Promise<void>>();
  /** Connections that the meter knows. */
  readonly #counted = new WeakSet<Connection>();
  #configuration: Configuration;
  #upstreams = new Map<string, UpstreamHandles>();

  constructor(deps: UpstreamPoolDeps, { configuration, discover }: UpstreamPoolOptions) {
    this.#deps = deps;
    this.caches = createResultCaches({ clock: deps.clock });
    this.#early = discover ? createEarlyDiscovery(deps) : undefined;
    this.#events = createServerEvents(deps.emit);
    this.#noteDefinitions = createDefinitionEvents(deps.emit);
    this.#configuration = configuration;
    this.adopt(configuration);
  }

  get upstreams(): ReadonlyMap<string, UpstreamHandles> {
    return this.#upstreams;
  }

  adopt(configuration: Configuration): void {
    const before = this.#upstreams;
    this.#configuration = configuration;
    this.caches.adopt(configuration);
    this.#upstreams = new Map();
    for (const server of configuration.servers.values()) {
      if (server.kind !== 'ready' || !server.spec.enabled) continue;
      const { spec } = server;
      const known = before.get(spec.name);
      if (known !== undefined && isSameConnection(known.control.spec, spec)) known.control.replaceSpec(spec);
      const handles = known?.control.spec === spec ? known : this.#start(spec);
      if (handles !== known && known?.control.spec.connectionKey === spec.connectionKey) this.#forget(handles);
      this.#upstreams.set(spec.name, handles);
      this.#catalogs.set(spec.name, handles.control.catalog);
      this.#noteDefinitions(spec.name, handles.control.definitions);
    }
    for (const [name, handles] of before) {
      if (this.#upstreams.get(name) !== handles) this.#letGo(handles);
      if (!this.#upstreams.has(name)) this.#noteDefinitions(name, undefined);
    }
    this.#events.adopt(this.status());
    this.#early?.begin(this.#upstreams);
  }

  /** A secret in its arguments or variables changed: its lists and results were those for another. */
  #forget({ control }: UpstreamHandles): void {
    this.caches.stale(control.spec.name);
    void control.refresh();
  }

  status(): readonly ServerStatus[] {
    return [...this.#configuration.servers.values()].map((server) => serverStatus(server, this.#upstreams));
  }

  async discover(servers?: readonly string[]): Promise<void> {
    const wanted = [...this.#upstreams].filter(([name]) => servers === undefined || servers.includes(name));
    await Promise.all(wanted.map(([, { control }]) => control.refresh()));
  }

  retry(server: string): void {
    void this.#find(server).control.retry();
  }

  acceptListed(server: string): void {
    this.#find(server).control.acceptListed();
    this.#noteChange(server);
  }

  #find(server: string): UpstreamHandles {
    const handles = this.#upstreams.get(server);
    if (handles !== undefined) return handles;
    throw new HubError('SERVER_UNKNOWN', `No server "${server.slice(0, 80)}" is in use.`, {
      hint: '`qm ls` shows which servers are configured, disabled or invalid.',
    });
  }

  async close(): Promise<void> {
    this.#early?.close();
    await Promise.all([...[...this.#upstreams.values()].map(({ control }) => control.close()), ...this.#leaving]);
  }

  #start(spec: ServerSpec): UpstreamHandles {
    const { clock, logger, random, children, programs, starts, memory, accounts, redact, notices } = this.#deps;
    return createUpstream(
      {
        clock,
        logger,
        children,
        programs,
        starts,
        memory,
        accounts,
        redact,
        random: () => random(4).readUInt32LE() / 2 ** 32,
        onServerChange: (server) =>
          contain(logger, 'upstream.change-defect-contained', { server }, () => this.#noteChange(server)),
        onStale: this.caches.stale,
        onNotice: (session, method, params) =>
          contain(logger, 'caller.defect-contained', {}, () => notices.get(session)?.(method, params)),
      },
      { spec, client: { name: 'quartermaster', version } },
    );
  }

  /** The state changes often, the lists seldom. Only changed lists make views stale. */
  #noteChange(server: string): void {
    this.#countConnection(server);
    const { control } = this.#upstreams.get(server) ?? {};
    if (control === undefined) return;
    const before = this.#catalogs.get(server);
    const { catalog } = control;
    this.#catalogs.set(server, catalog);
    this.#events.noteState(control.status());
    this.#noteDefinitions(server, control.definitions);
    if (isSameCatalog(before, catalog)) return;
    this.#deps.onServersChange();
    this.#events.noteCatalog(server, catalog);
  }

  #countConnection(server: string): void {
    const connection = this.#upstreams.get(server)?.dispatch.connection;
    if (connection === undefined || this.#counted.has(connection)) return;
    this.#counted.add(connection);
    this.#deps.meter?.connected(server);
  }

  #letGo(handles: UpstreamHandles): void {
    const { logger } = this.#deps;
    const { name: server } = handles.control.spec;
    const gone = handles.control
      .retire()
      .catch((error: unknown) => logger.error('upstream.defect-contained', { server, ...defectFields(error) }))
      .finally(() => this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }
}
