import { type Clock, createId, LinkedList, type Logger, type RandomBytes, sleep } from '../base/index.ts';
import {
  Call,
  type CallRequest,
  type CallResult,
  type CallTracer,
  createCallPath,
  createRefusedCalls,
  createTracedCalls,
  createViews,
  interrupted,
  type NameBook,
  type ResourceWatch,
  readingsOf,
  type ViewSource,
  type Views,
  watchAllowed,
} from '../calls/index.ts';
import type { Caller, Decision, Fleet, Problem, ServerLoad, ServerStatus } from '../domain/index.ts';
import {
  createPolicyCompiler,
  isReadingName,
  type KnownTool,
  type KnownTools,
  type PolicyCompiler,
  unknownNames,
} from '../governance/index.ts';
import { type Ledger, openLedger } from '../ledger/index.ts';
import { createRequestStates, createTaskIds, type RequestStates } from '../mcp/index.ts';
import { createCatalogStore, createNameStore, ensureStateKey, putStateKey, workspaceLayout } from '../storage/index.ts';
import { type Builtins, createChildren } from '../upstream/index.ts';
import { baseEnvironment } from './base-environment.ts';
import { type ClientNotices, createClientNotices, type NoticeListener } from './client-notices.ts';
import { type Configuration, openConfiguration } from './configuration.ts';
import { type Crew, createCrew } from './crew.ts';
import type { HubMeter } from './hub-meter.ts';
import { ledgerProblems } from './ledger-problems.ts';
import { type NameBooks, openNameBooks } from './name-books.ts';
import { nameProblems } from './name-problems.ts';
import { createRedaction } from './redaction.ts';
import { openServerMemory } from './server-memory.ts';
import { openStateKeeper, type StateKeeper } from './state-keeper.ts';

/** Everything that stands behind the faces. */
export interface Hub {
  readonly workspace: string;
  readonly fleet: Fleet;
  readonly views: Views;
  readonly ledger: Ledger;
  readonly state: Pick<StateKeeper, 'isIntact' | 'onRestored'>;
  readonly callsUnderWay: number;
  /** Processes of stdio servers that run, the watchdog aside. */
  readonly childrenRunning: number;
  call(request: CallRequest): { readonly call: Call; readonly result: Promise<CallResult> };
  /** For a call that subscribes: tells of changes as long as the caller may read what changed. */
  resourceWatch(caller: Caller, uri: string, onUpdate: (uri: string) => void): ResourceWatch;
  /** Ends the calls under way of callers who lost their right to them. */
  cancelCalls(isOver: (caller: Caller) => boolean): void;
  /** Somebody whose identity was proved, or the operator speaking as an agent. */
  callerFor(identity: CallerIdentity): Caller;
  status(): readonly ServerStatus[];
  /** Of the servers that are in use. */
  load(): readonly ServerLoad[];
  /** Of the configuration, and of names in it that no known server has. */
  problems(): readonly Problem[];
  /** Why an agent may or may not use a tool, read `resource:<uri>` or get `prompt:<name>`; for the operator. */
  explain(chain: readonly string[], server: string, tool: string): Decision;
  /** Connects servers and learns their tools; resolves when each has answered or failed. */
  discover(servers?: readonly string[]): Promise<void>;
  /** Takes up what is on disk at once; with `files`, only what these say. */
  reload(files?: readonly string[]): Promise<void>;
  /** Begins the same for one server, though it failed a moment ago; throws where there is none of that name. */
  retry(server: string): void;
  onReload(listener: (fleet: Fleet) => void): () => void;
  /** Why what is in force is not what is on disk; they are among the problems too. */
  configurationNotices(): readonly Problem[];
  /** Signs what clients keep for the hub between two requests. */
  readonly requestStates: RequestStates;
  readonly clients: ClientNotices;
  /** Takes no new calls, lets those under way finish for a while, then closes everything. */
  stop(): Promise<void>;
}

export interface CallerIdentity {
  readonly agent: string;
  readonly chain?: readonly string[];
  readonly tokenId?: string;
  readonly run?: string | undefined;
}

export interface HubDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Servers that come with the product; without it those that are configured cannot be reached. */
  readonly builtins?: Builtins | undefined;
  readonly meter?: HubMeter | undefined;
  /** Whoever wants traces hands one in. */
  readonly tracer?: CallTracer | undefined;
}

export interface HubOptions {
  readonly workspace: string;
  /** Take up changes of the configuration files by itself. */
  readonly watch: boolean;
  /** Ask servers that were never discovered at once, not when somebody needs them. */
  readonly discover?: boolean | undefined;
}

/** How long a client may take to come again with what it was asked. */
const stateLifeMs = 60 * 60_000;
/** How long calls under way may take to finish when the hub stops. */
const stopGraceMs = 10_000;

export async function createHub(deps: HubDeps, options: HubOptions): Promise<Hub> {
  const { clock, logger } = deps;
  const configuration = await openConfiguration(deps, options);
  const opened = await openState(deps, configuration);
  const { ledger, refused, state, children, memory, names, redaction, signed, traced } = opened;
  const notices = new Map<string, NoticeListener>();
  const crew = createCrew(
    { ...deps, children, memory, redact: redaction.said, notices, onChange: renew },
    { fleet: configuration.fleet, discover: options.discover === true },
  );
  const views = createViews({ clock }, source());
  const compilerFor = rememberCompiler();
  const underWay = new LinkedList<Call>();
  let stopping: Promise<void> | undefined;
  const isStopping = (): boolean => stopping !== undefined;
  const runCall = createCallPath({ ...deps, ...signed, ledger, views, refused, underWay, traced, isStopping });

  configuration.onReload((fleet) => {
    names.adopt(fleet);
    redaction.learn(fleet);
    crew.adopt(fleet);
    renew();
  });

  function source(): ViewSource {
    return { fleet: configuration.fleet, upstreams: crew.upstreams, caches: crew.caches, ...names.forViews() };
  }

  function renew(): void {
    views.renew(source());
  }

  async function stop(): Promise<void> {
    configuration.close();
    await drain(clock, underWay);
    await crew.close();
    await children.close();
    await opened.close();
    logger.debug('stopped');
  }

  return {
    workspace: configuration.fleet.workspace,
    get fleet() {
      return configuration.fleet;
    },
    views,
    ledger,
    state,
    get callsUnderWay() {
      return underWay.size;
    },
    get childrenRunning() {
      return children.running;
    },
    call(request) {
      const call = new Call(request);
      return { call, result: runCall(call) };
    },
    resourceWatch: (caller, uri, onUpdate) => watchAllowed(views, caller.chain, uri, onUpdate),
    cancelCalls: (isOver) => cancelCalls(underWay, isOver),
    callerFor: (identity) => callerOf(identity, opened.life),
    status: () => crew.status(),
    load: () => [...crew.upstreams.values()].map(({ control }) => control.load()),
    problems: () => problemsOf(configuration, crew, names, ledger),
    explain(chain, server, tool) {
      const policy = compilerFor(configuration.fleet)(chain);
      const { lastCatalog: catalog } = crew.upstreams.get(server)?.control ?? {};
      if (isReadingName(tool)) return readingsOf(policy, server, catalog).decide(tool);
      const offered = catalog?.tools.find(({ name }) => name === tool);
      // A tool that nobody offers must not take a name from one that somebody will.
      const exposedName = offered === undefined ? tool : names.of('tool').nameOf(server, tool);
      return policy.decide(server, tool, exposedName, offered?.hints ?? null);
    },
    discover: crew.discover,
    retry: crew.retry,
    requestStates: signed.states,
    clients: createClientNotices(crew, notices),
    reload: (files) => configuration.reload(files),
    onReload: (listener) => configuration.onReload(listener),
    configurationNotices: () => configuration.notices(),
    stop: () => (stopping ??= stop()),
  };
}

/** Without a run of its own, an agent has one for each life of the hub. */
function callerOf({ agent, chain, tokenId, run }: CallerIdentity, life: string): Caller {
  const runOfLife = `${agent.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 50)}-${life}`;
  return { agent, chain: chain ?? [agent], tokenId, run: run ?? runOfLife };
}

/** Everything that outlives a configuration. */
async function openState({ clock, logger, random, env, tracer, builtins }: HubDeps, { fleet }: Configuration) {
  const layout = workspaceLayout(fleet.workspace);
  const state = await openStateKeeper({ clock, logger, random }, layout);
  const redaction = createRedaction(fleet);
  const { workspace, ledger: settings } = fleet;
  const ledgerDeps = { clock, logger, random, redact: redaction, restoreFolder: state.restore };
  const ledger = await openLedger(ledgerDeps, { workspace, sync: settings.sync }).catch((error: unknown) => {
    state.close();
    throw error;
  });
  const children = createChildren({ clock, logger, random }, { baseEnv: baseEnvironment(env), builtins });
  await children.sweepStale();
  const catalogs = createCatalogStore(layout, { clock, random, logger });
  const names = await openNameBooks(createNameStore(layout, { clock, random, logger }), fleet);
  const traced = tracer === undefined ? undefined : createTracedCalls(tracer, redaction);
  const key = await ensureStateKey(layout, random);
  state.onRestored(() => putStateKey(layout, key, random));
  const signed = {
    states: createRequestStates({ clock, key }, { lifeMs: stateLifeMs }),
    taskIds: createTaskIds({ key }),
  };
  const memory = await openServerMemory(catalogs);
  const refused = createRefusedCalls({ clock, ledger });
  const close = async (): Promise<void> => {
    await Promise.all([catalogs.flush(), names.flush()]);
    refused.close();
    await ledger.close();
    state.close();
  };
  const life = createId(random, 8);
  return { ledger, refused, state, children, memory, names, redaction, signed, traced, life, close };
}

/** Whoever asks why asks for many tools: the rules of a fleet are compiled once for all of them. */
function rememberCompiler(): (fleet: Fleet) => PolicyCompiler {
  let last: { readonly fleet: Fleet; readonly compile: PolicyCompiler } | undefined;
  return (fleet) => {
    if (last?.fleet !== fleet) last = { fleet, compile: createPolicyCompiler(fleet) };
    return last.compile;
  };
}

function cancelCalls(underWay: LinkedList<Call>, isOver: (caller: Caller) => boolean): void {
  for (const call of underWay) if (isOver(call.request.caller)) call.cancel('its token expired or was revoked');
}

async function drain(clock: Clock, underWay: LinkedList<Call>): Promise<void> {
  const until = clock.monotonic() + stopGraceMs;
  while (underWay.size > 0 && clock.monotonic() < until) await sleep(clock, 20);
  for (const call of underWay) call.cancel(interrupted());
  if (underWay.size > 0) await sleep(clock, 100);
}

function problemsOf(configuration: Configuration, crew: Crew, names: NameBooks, ledger: Ledger): readonly Problem[] {
  const { fleet } = configuration;
  return [
    ...configuration.notices(),
    ...fleet.problems,
    ...unknownNames(fleet, knownTools(crew, names.of('tool'))),
    ...nameProblems(fleet, names.of('tool').collisions),
    ...ledgerProblems(ledger),
  ];
}

function knownTools(crew: Crew, names: NameBook): KnownTools {
  const known = new Map<string, KnownTool[]>();
  for (const [server, { control }] of crew.upstreams) {
    const { lastCatalog: catalog } = control;
    if (catalog === undefined) continue;
    known.set(server, [
      ...catalog.tools.map(({ name }) => ({ name, exposedName: names.nameOf(server, name) })),
      ...catalog.prompts.map(({ name }) => ({ name: `prompt:${name}` })),
      ...catalog.resources.map(({ uri }) => ({ name: `resource:${uri}` })),
      ...catalog.templates.map(({ uriTemplate }) => ({ name: `resource:${uriTemplate}` })),
    ]);
  }
  return known;
}
