import { createSystemClock, HubError } from '../base/index.ts';
import { type Catalog, type Fleet, onlyTools, type ServerSpec, type ServerStatus } from '../domain/index.ts';
import { readPrompt, readResource, readTemplate, readTool } from '../upstream/definitions.ts';
import type {
  Link,
  UpstreamControl,
  UpstreamDispatch,
  UpstreamHandles,
  WireCall,
  WireFailure,
  WireReply,
  WireRequest,
} from '../upstream/index.ts';
import { scriptedLink } from '../upstream/scripted-link.fixture.ts';
import { createNameBook } from './names.ts';
import { createResourceNames } from './resource-names.ts';
import { createResultCaches } from './result-cache.ts';
import type { ViewSource } from './view.ts';

/** A server whose every fault is in the hands of the test. Counts what is taken and given back. */
export interface ScriptedServer extends UpstreamHandles {
  readonly control: UpstreamControl;
  readonly dispatch: UpstreamDispatch;
  /** Requests that reached a link, in order. */
  readonly sent: WireRequest[];
  /** What the server was told to give up. */
  readonly cancelled: HubError[];
  readonly losses: WireFailure[];
  /** Permits that are taken and not given back. */
  readonly held: number;
  connects: number;
  refreshes: number;
  /** Answers requests, one after the other; the last answer stays. */
  replies: ((request: WireRequest) => WireReply | Promise<WireReply>)[];
  /** The live link, or undefined: then `onConnect` is asked. */
  link: Link | undefined;
  onConnect: () => Promise<Link>;
  onRefresh: () => Promise<void>;
  catalog: Catalog | undefined;
  /** What it offered before it was away for too long. */
  lastCatalog: Catalog | undefined;
  failure: HubError | undefined;
  /** What differs from a server that is connected. */
  status: Partial<ServerStatus>;
}

export function scriptServer(spec: ServerSpec, tools: readonly object[] | undefined): ScriptedServer {
  let held = 0;
  const server: ScriptedServer = {
    sent: [],
    cancelled: [],
    losses: [],
    connects: 0,
    refreshes: 0,
    replies: [() => resultOf('{"content":[]}')],
    catalog: tools === undefined ? undefined : catalogOf(tools),
    lastCatalog: undefined,
    status: {},
    failure: undefined,
    link: undefined,
    onConnect: async () => {
      server.link = scriptLink(server);
      return server.link;
    },
    onRefresh: async () => {},
    get held() {
      return held;
    },
    control: {
      spec,
      get catalog() {
        return server.catalog;
      },
      get lastCatalog() {
        return server.catalog ?? server.lastCatalog;
      },
      refresh() {
        server.refreshes++;
        return server.onRefresh();
      },
      retry() {
        return server.control.refresh();
      },
      letGoUnused() {},
      replaceSpec() {},
      retire: async () => {},
      close: async () => {},
      get failure() {
        return server.failure;
      },
      load: () => ({ name: spec.name, connections: 1, underWay: held, waiting: 0, queuedBytes: 0 }),
      status: () => ({ ...connectedStatus, name: spec.name, ...server.status }),
    },
    dispatch: {
      get link() {
        return server.link;
      },
      connect() {
        server.connects++;
        return server.onConnect();
      },
      enter() {
        if (held >= spec.limits.concurrency) return false;
        held++;
        return true;
      },
      leave() {
        held--;
      },
      get busy() {
        return held > 0;
      },
      seats: undefined,
      watch() {
        throw new Error('not scripted');
      },
      unwatch() {},
      onUpdated: () => () => {},
      reportLoss(_link, failure) {
        server.losses.push(failure);
        server.link = undefined;
      },
    },
  };
  return server;
}

const connectedStatus: Omit<ServerStatus, 'name'> = {
  state: 'connected',
  transport: 'stdio',
  protocolVersion: undefined,
  tools: undefined,
  source: 'quartermaster.yaml',
  hides: [],
  description: undefined,
  error: undefined,
  retryAt: undefined,
  attempt: undefined,
};

export function scriptLink(server: ScriptedServer): Link {
  return scriptedLink({ send: (request) => send(server, request) });
}

export function catalogOf(tools: readonly object[]): Catalog {
  const definitions = tools.map((item) => {
    const reading = readTool(item);
    if (reading.kind === 'bad') throw new Error(reading.reason);
    return reading.tool;
  });
  return onlyTools(definitions, 0);
}

/** What a server of the test offers besides tools; it can do all that there is, unless it is said to be less able. */
export interface OfferDraft {
  readonly resources?: readonly (string | { readonly uri: string })[];
  readonly templates?: readonly string[];
  readonly prompts?: readonly (string | { readonly name: string })[];
  readonly abilities?: Partial<Catalog['abilities']>;
}

export function offering({ resources = [], templates = [], prompts = [], abilities = {} }: OfferDraft): Catalog {
  const able = { resources: true, subscriptions: true, prompts: true, completions: true, logging: true, tasks: false };
  return {
    ...onlyTools([], 0),
    resources: resources.flatMap((item) => readResource(typeof item === 'string' ? { uri: item } : item) ?? []),
    templates: templates.flatMap((uriTemplate) => readTemplate({ uriTemplate }) ?? []),
    prompts: prompts.flatMap((item) => readPrompt(typeof item === 'string' ? { name: item } : item) ?? []),
    abilities: { ...able, ...abilities },
  };
}

/** The handles of the servers, in the order in which the fleet has them. */
export function handlesOf(fleet: Fleet, catalogs: Readonly<Record<string, readonly object[] | undefined>>) {
  const servers = new Map<string, ScriptedServer>();
  for (const entry of fleet.servers.values()) {
    if (entry.kind === 'ready') servers.set(entry.spec.name, scriptServer(entry.spec, catalogs[entry.spec.name]));
  }
  return servers;
}

/** With names as a new hub gives them. */
export function sourceOf(
  fleet: Fleet,
  upstreams: ReadonlyMap<string, UpstreamHandles>,
  clock = createSystemClock(),
): ViewSource {
  const caches = createResultCaches({ clock });
  caches.adopt(fleet);
  return {
    fleet,
    upstreams,
    names: createNameBook('prefixed'),
    promptNames: createNameBook('prefixed'),
    resourceNames: createResourceNames(),
    caches,
  };
}

export function resultOf(text: string): WireReply {
  return { kind: 'result', id: 1, text, value: JSON.parse(text) };
}

export function failureOf(
  code: ConstructorParameters<typeof HubError>[0],
  cause: WireFailure['cause'],
  sent: boolean,
  httpStatus?: number,
): WireFailure {
  return { kind: 'failed', error: new HubError(code, `scripted ${code}`), cause, sent, httpStatus };
}

function send(server: ScriptedServer, request: WireRequest): WireCall {
  server.sent.push(request);
  const answer = server.replies.length > 1 ? server.replies.shift() : server.replies[0];
  let settle: (reply: WireReply) => void = () => {};
  const reply = new Promise<WireReply>((resolve) => {
    settle = resolve;
  });
  void Promise.resolve(answer?.(request)).then((value) => value !== undefined && settle(value));
  return {
    reply,
    cancel(error) {
      server.cancelled.push(error);
      settle({ kind: 'failed', error, cause: 'gave-up', sent: true, httpStatus: undefined });
    },
  };
}
