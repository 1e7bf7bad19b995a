import { createSystemClock, HubError } from '../base/index.ts';
import { type Catalog, type Configuration, onlyTools, type ServerSpec, type ServerStatus } from '../domain/index.ts';
import { readPrompt, readResource, readTemplate, readTool } from '../upstream/catalog/definitions.ts';
import { scriptedConnection } from '../upstream/connecting/scripted-connection.fixture.ts';
import type {
  Connection,
  FailedReply,
  PendingRequest,
  UpstreamControl,
  UpstreamDispatch,
  UpstreamHandles,
  UpstreamReply,
  UpstreamRequest,
} from '../upstream/index.ts';
import { createResultCaches } from './cache/result-cache.ts';
import { createNameBook } from './views/naming/names.ts';
import { createResourceNames } from './views/naming/resource-names.ts';
import type { ViewSource } from './views/view.ts';

/** A server whose faults the test controls. Counts slots that are taken and returned. */
export interface ScriptedServer extends UpstreamHandles {
  readonly control: UpstreamControl;
  readonly dispatch: UpstreamDispatch;
  /** Requests that reached a connection, in order. */
  readonly sent: UpstreamRequest[];
  /** Cancelled requests. */
  readonly cancelled: HubError[];
  readonly losses: FailedReply[];
  /** Slots that are taken and not returned. */
  readonly held: number;
  connects: number;
  refreshes: number;
  /** Answers requests in turn. The last answer is repeated. */
  replies: ((request: UpstreamRequest) => UpstreamReply | Promise<UpstreamReply>)[];
  /** The live connection. If undefined, `onConnect` is called. */
  connection: Connection | undefined;
  onConnect: () => Promise<Connection>;
  onRefresh: () => Promise<void>;
  catalog: Catalog | undefined;
  /** Its catalog before it was unavailable for too long. */
  lastCatalog: Catalog | undefined;
  failure: HubError | undefined;
  /** Differences from the status of a connected server. */
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
    replies: [() => scriptedResult('{"content":[]}')],
    catalog: tools === undefined ? undefined : catalogOf(tools),
    lastCatalog: undefined,
    status: {},
    failure: undefined,
    connection: undefined,
    onConnect: async () => {
      server.connection = scriptConnection(server);
      return server.connection;
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
      definitions: undefined,
      acceptListed() {},
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
      load: () => ({ name: spec.name, connections: 1, inFlight: held, waiting: 0, queuedBytes: 0 }),
      status: () => ({ ...connectedStatus, name: spec.name, ...server.status }),
    },
    dispatch: {
      get withheld() {
        return server.control.lastCatalog?.withheld;
      },
      get connection() {
        return server.connection;
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
      get hasCalls() {
        return held > 0;
      },
      isolated: undefined,
      subscribe() {
        throw new Error('not scripted');
      },
      unsubscribe() {},
      onUpdated: () => () => {},
      reportLoss(_connection, failure) {
        server.losses.push(failure);
        server.connection = undefined;
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

export function scriptConnection(server: ScriptedServer): Connection {
  return scriptedConnection({ send: (request) => send(server, request) });
}

export function catalogOf(tools: readonly object[]): Catalog {
  const definitions = tools.map((item) => {
    const reading = readTool(item);
    if (reading.kind === 'bad') throw new Error(reading.reason);
    return reading.tool;
  });
  return onlyTools(definitions, 0);
}

/** A test server's resources, templates and prompts. It has all abilities unless the test says otherwise. */
export interface CatalogDraft {
  readonly resources?: readonly (string | { readonly uri: string })[];
  readonly templates?: readonly string[];
  readonly prompts?: readonly (string | { readonly name: string })[];
  readonly abilities?: Partial<Catalog['abilities']>;
}

export function catalogWith({ resources = [], templates = [], prompts = [], abilities = {} }: CatalogDraft): Catalog {
  const able = { resources: true, subscriptions: true, prompts: true, completions: true, logging: true, tasks: false };
  return {
    ...onlyTools([], 0),
    resources: resources.flatMap((item) => readResource(typeof item === 'string' ? { uri: item } : item) ?? []),
    templates: templates.flatMap((uriTemplate) => readTemplate({ uriTemplate }) ?? []),
    prompts: prompts.flatMap((item) => readPrompt(typeof item === 'string' ? { name: item } : item) ?? []),
    abilities: { ...able, ...abilities },
  };
}

/** The handles of the servers in configuration order. */
export function handlesOf(
  configuration: Configuration,
  catalogs: Readonly<Record<string, readonly object[] | undefined>>,
) {
  const servers = new Map<string, ScriptedServer>();
  for (const entry of configuration.servers.values()) {
    if (entry.kind === 'ready') servers.set(entry.spec.name, scriptServer(entry.spec, catalogs[entry.spec.name]));
  }
  return servers;
}

/** With names as a new hub assigns them. */
export function sourceOf(
  configuration: Configuration,
  upstreams: ReadonlyMap<string, UpstreamHandles>,
  clock = createSystemClock(),
): ViewSource {
  const caches = createResultCaches({ clock });
  caches.adopt(configuration);
  return {
    configuration,
    upstreams,
    names: createNameBook('prefixed'),
    promptNames: createNameBook('prefixed'),
    resourceNames: createResourceNames(),
    caches,
  };
}

export function scriptedResult(text: string): UpstreamReply {
  return { kind: 'result', id: 1, text, value: JSON.parse(text) };
}

export function failureOf(
  code: ConstructorParameters<typeof HubError>[0],
  cause: FailedReply['cause'],
  sent: boolean,
  httpStatus?: number,
): FailedReply {
  return { kind: 'failed', error: new HubError(code, `scripted ${code}`), cause, sent, httpStatus };
}

function send(server: ScriptedServer, request: UpstreamRequest): PendingRequest {
  server.sent.push(request);
  const answer = server.replies.length > 1 ? server.replies.shift() : server.replies[0];
  let settle: (reply: UpstreamReply) => void = () => {};
  const reply = new Promise<UpstreamReply>((resolve) => {
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
