import { isDeepStrictEqual } from 'node:util';
import { type Clock, contain, defectFields, HubError, type Logger, type RandomBytes, version } from '../base/index.ts';
import { createResultCaches, type ResultCaches } from '../calls/index.ts';
import { type Catalog, type Fleet, placeOf, type ServerSpec, type ServerStatus } from '../domain/index.ts';
import {
  type Children,
  createStartQueue,
  createUpstream,
  type Link,
  type ServerMemory,
  type UpstreamHandles,
} from '../upstream/index.ts';
import type { NoticeListener } from './client-notices.ts';
import { createEarlyDiscovery } from './early-discovery.ts';
import type { HubMeter } from './hub-meter.ts';

/** The upstream servers of the current configuration. */
export interface Crew {
  readonly upstreams: ReadonlyMap<string, UpstreamHandles>;
  /** What they answered, where that is kept. */
  readonly caches: ResultCaches;
  /** Keeps what did not change, starts what is new, lets go of the rest once its calls are done. */
  adopt(fleet: Fleet): void;
  status(): readonly ServerStatus[];
  /** Connects servers and learns their tools; resolves when each has answered or failed. */
  discover(servers?: readonly string[]): Promise<void>;
  /** Begins to connect to a server, though it failed a moment ago; throws where there is none of that name. */
  retry(server: string): void;
  close(): Promise<void>;
}

export interface CrewDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly children: Children;
  readonly memory: ServerMemory;
  readonly redact: (text: string) => string;
  /** What servers offer has changed. */
  readonly onChange: () => void;
  /** By client session. */
  readonly notices: ReadonlyMap<string, NoticeListener>;
  readonly meter?: HubMeter | undefined;
}

export interface CrewOptions {
  readonly fleet: Fleet;
  /** Ask servers that were never discovered at once, not when somebody needs them. */
  readonly discover: boolean;
}

export function createCrew(deps: CrewDeps, { fleet: first, discover }: CrewOptions): Crew {
  let fleet = first;
  const early = discover ? createEarlyDiscovery(deps) : undefined;
  let upstreams = new Map<string, UpstreamHandles>();
  const caches = createResultCaches({ clock: deps.clock });
  const offered = new Map<string, Catalog | undefined>();
  const leaving = new Set<Promise<void>>();
  const counted = new WeakSet<Link>();
  const starts = createStartQueue(deps);

  function start(spec: ServerSpec): UpstreamHandles {
    return createUpstream(
      {
        clock: deps.clock,
        logger: deps.logger,
        children: deps.children,
        starts,
        memory: deps.memory,
        redact: deps.redact,
        random: () => deps.random(4).readUInt32LE() / 2 ** 32,
        onChange: (server) => contain(deps.logger, 'offer_change_defect', { server }, () => noteChange(server)),
        onStale: caches.stale,
        onNotice: (session, method, params) =>
          contain(deps.logger, 'caller_defect', {}, () => deps.notices.get(session)?.(method, params)),
      },
      { spec, client: { name: 'quartermaster', version } },
    );
  }

  /** State changes are frequent, changes of the offer rare; only these make views stale. */
  function noteChange(server: string): void {
    countLink(server);
    const offer = upstreams.get(server)?.control.catalog;
    const before = offered.get(server);
    offered.set(server, offer);
    if (isSameOffer(before, offer)) return;
    deps.onChange();
  }

  function countLink(server: string): void {
    const link = upstreams.get(server)?.dispatch.link;
    if (link === undefined || counted.has(link)) return;
    counted.add(link);
    deps.meter?.linked(server);
  }

  function letGo(handles: UpstreamHandles): void {
    const { name: server } = handles.control.spec;
    const gone = handles.control
      .retire()
      .catch((error: unknown) => deps.logger.error('upstream_defect', { server, ...defectFields(error) }))
      .finally(() => leaving.delete(gone));
    leaving.add(gone);
  }

  function adopt(next: Fleet): void {
    const before = upstreams;
    fleet = next;
    caches.adopt(next);
    upstreams = new Map();
    for (const server of next.servers.values()) {
      if (server.kind === 'invalid' || !server.spec.enabled) continue;
      const { spec } = server;
      const known = before.get(spec.name);
      if (known?.control.spec.connectionKey === spec.connectionKey) known.control.replaceSpec(spec);
      const handles = known?.control.spec === spec ? known : start(spec);
      upstreams.set(spec.name, handles);
      offered.set(spec.name, handles.control.catalog);
    }
    for (const [name, handles] of before) if (upstreams.get(name) !== handles) letGo(handles);
    early?.begin(upstreams);
  }

  adopt(first);
  return {
    get upstreams() {
      return upstreams;
    },
    caches,
    adopt,
    status: () => [...fleet.servers.values()].map((server) => statusOf(server, upstreams)),
    async discover(servers) {
      const wanted = [...upstreams].filter(([name]) => servers === undefined || servers.includes(name));
      await Promise.all(wanted.map(([, { control }]) => control.refresh()));
    },
    retry(server) {
      const handles = upstreams.get(server);
      if (handles === undefined) {
        throw new HubError('SERVER_UNKNOWN', `No server "${server.slice(0, 80)}" is in use.`, {
          hint: '`qm ls` shows which servers are configured, disabled or invalid.',
        });
      }
      void handles.control.retry();
    },
    async close() {
      early?.close();
      await Promise.all([...[...upstreams.values()].map(({ control }) => control.close()), ...leaving]);
    },
  };
}

function isSameOffer(a: Catalog | undefined, b: Catalog | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return a === b;
  const lists = ['tools', 'resources', 'templates', 'prompts'] as const;
  return lists.every((list) => isSameList(a[list], b[list])) && isDeepStrictEqual(a.abilities, b.abilities);
}

/** By the texts: clients read more of a tool than its fingerprint covers. */
function isSameList(a: readonly { readonly text: string }[], b: readonly { readonly text: string }[]): boolean {
  return a.length === b.length && a.every(({ text }, index) => text === b[index]?.text);
}

/** Where the entry that counts does not say so itself, whoever wonders is told who does. */
function switchedOffBy({ disabledBy }: ServerSpec): string | undefined {
  return disabledBy === undefined ? undefined : `Switched off in ${placeOf(disabledBy)}.`;
}

function statusOf(
  server: Fleet['servers'] extends ReadonlyMap<string, infer S> ? S : never,
  upstreams: ReadonlyMap<string, UpstreamHandles>,
): ServerStatus {
  const nothing = { protocolVersion: undefined, tools: undefined, retryAt: undefined, attempt: undefined };
  if (server.kind === 'invalid') {
    return {
      ...nothing,
      name: server.name,
      state: 'invalid',
      transport: undefined,
      source: placeOf(server.source),
      hides: server.hides.map(placeOf),
      description: undefined,
      error: server.problems[0]?.message,
    };
  }
  const { spec } = server;
  const running = upstreams.get(spec.name);
  if (running !== undefined) return running.control.status();
  return {
    ...nothing,
    name: spec.name,
    state: 'disabled',
    transport: spec.transport.type,
    source: placeOf(spec.source),
    hides: spec.hides.map(placeOf),
    description: spec.description,
    error: switchedOffBy(spec),
  };
}
