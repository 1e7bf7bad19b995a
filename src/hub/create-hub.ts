import { type Clock, HubError, type LinkedList, sleep } from '../base/index.ts';
import { Call, createAgentLists, whyStopped } from '../calls/index.ts';
import type { Caller } from '../domain/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { createHubApprovals } from './approvals/hub-approvals.ts';
import { createClientNotices } from './client-notices.ts';
import { openConfigurationSource } from './configuration/configuration-source.ts';
import { definitionProblems } from './definitions/definition-problems.ts';
import { reportDefinitions } from './definitions/definition-report.ts';
import { createEventEmitter } from './events/event-emitter.ts';
import type { CallerIdentity, Hub, HubDeps, HubOptions } from './hub.ts';
import { problemsOf, unknownNamesOf } from './hub-problems.ts';
import { openProcessParts, type ProcessParts } from './process-parts.ts';
import { openProject, type Project } from './project.ts';
import { createServerLogs } from './server-logs.ts';
import { fileProject } from './server-memory.ts';
import { catalogsOf } from './upstream-pool.ts';
import { workspaceSecrets } from './workspace-secrets.ts';

/** How long calls in flight may take to finish when the hub stops. */
const stopGraceMs = 10_000;

export async function createHub(deps: HubDeps, options: HubOptions): Promise<Hub> {
  const events = createEventEmitter(deps);
  const emit = events.forProject(fileProject);
  const secrets = workspaceSecrets(deps, options);
  const source = await openConfigurationSource(
    { ...deps, emit, secrets },
    { ...options, trust: options.trust ?? 'stored' },
  );
  let stopping: Promise<void> | undefined;
  const isStopping = (): boolean => stopping !== undefined;
  const parts = await openProcessParts(deps, source.configuration, options.stateHome).catch((error: unknown) => {
    source.close();
    throw error;
  });
  source.onReload(({ servers }) => recordConfiguration(deps, parts.ledger, servers.size));
  const discover = options.discover === true;
  const approvals = createHubApprovals(deps, parts, { configuration: () => source.configuration, emit });
  const order = { name: fileProject, source, emit, discover, isStopping, approvals: approvals.forCalls };
  const workspace = await openProject(deps, parts, order);
  const projects: ReadonlyMap<string, Project> = new Map([[fileProject, workspace]]);

  async function stop(): Promise<void> {
    events.emit({ type: 'hub.stopping' });
    await closeProjects(deps, parts, projects);
    await approvals.close();
    await parts.close();
  }

  return {
    workspace: source.configuration.workspace,
    get configuration() {
      return source.configuration;
    },
    get callsInFlight() {
      return parts.inFlight.size;
    },
    get childrenRunning() {
      return parts.children.running;
    },
    approvals,
    requestStates: parts.signed.states,
    serverLogs: createServerLogs(parts.children.stderr, parts.redaction),
    ...forCallers((caller) => projectOf(projects, caller)),
    lists: createAgentLists({
      viewsOf: (caller) => projectOf(projects, caller).views,
      onListsChange: (listener) => onViewsRenewed(projects, listener),
    }),
    ...forOperators(workspace, parts),
    cancelCalls: (isOver) => cancelCalls(parts.inFlight, isOver),
    keepShares: (agents) => parts.accounts.keep(fileProject, agents, 'token'),
    callerFor: (identity) => callerOf(identity, parts),
    clients: createClientNotices({
      pools: () => [...projects.values()].map(({ pool }) => pool),
      listeners: parts.listeners,
      emitFor: events.forProject,
    }),
    onEvent: events.on,
    stop: () => (stopping ??= stop()),
  };
}

type ForCallers = Pick<Hub, 'call' | 'mayLog' | 'resourceSubscription' | 'viewOf'>;

/** Routes a caller's requests to its project. */
function forCallers(of: (caller: Pick<Caller, 'project'>) => Project): ForCallers {
  return {
    call(request) {
      const call = new Call(request);
      return { call, result: of(request.caller).runCall(call) };
    },
    mayLog: (caller) => of(caller).views.of(caller.chain).mayLog,
    resourceSubscription: (caller, uri, onUpdate) => of(caller).subscribeAllowed(caller, uri, onUpdate),
    viewOf: (caller) => of(caller).views.of(caller.chain),
  };
}

type ForOperators = Pick<
  Hub,
  | 'ledger'
  | 'state'
  | 'status'
  | 'load'
  | 'problems'
  | 'unknownNames'
  | 'explain'
  | 'findings'
  | 'explainerFor'
  | 'labelsOf'
  | 'catalogs'
  | 'definitions'
  | 'definitionProblems'
  | 'acceptListed'
  | 'diagnosis'
  | 'discover'
  | 'retry'
  | 'reload'
  | 'withhold'
  | 'onReload'
  | 'configurationNotices'
  | 'pending'
>;

function forOperators(project: Project, parts: ProcessParts): ForOperators {
  const { ledger, state, layout, labels, redaction } = parts;
  const { source, pool } = project;
  return {
    ledger,
    state,
    status: () => pool.status(),
    load: () => [...pool.upstreams.values()].map(({ control }) => control.load()),
    problems: () => problemsOf(project, ledger, layout.journal),
    unknownNames: () => unknownNamesOf(project),
    explain: project.explain,
    findings: () => project.definitions.findings(),
    explainerFor: project.explainerFor,
    labelsOf: (run) => labels.of({ project: fileProject, run }),
    catalogs: () => catalogsOf(pool),
    definitions: () =>
      [...pool.upstreams.values()].flatMap((handles) => reportDefinitions(handles, redaction.message) ?? []),
    definitionProblems: () => definitionProblems(pool),
    acceptListed: (server) => pool.acceptListed(server),
    diagnosis: project.diagnosis,
    discover: (servers) => pool.discover(servers),
    retry: (server) => pool.retry(server),
    reload: (files) => source.reload(files),
    withhold: (servers) => source.withhold(servers),
    onReload: (listener) => source.onReload(listener),
    configurationNotices: () => source.notices(),
    pending: () => source.pending,
  };
}

function onViewsRenewed(projects: ReadonlyMap<string, Project>, listener: () => void): () => void {
  const stops = [...projects.values()].map(({ views }) => views.onRenew(listener));
  return () => {
    for (const stop of stops) stop();
  };
}

/** Fails closed: a caller of an unknown project gets nothing. */
function projectOf(projects: ReadonlyMap<string, Project>, { project }: Pick<Caller, 'project'>): Project {
  const found = projects.get(project);
  if (found === undefined) throw new HubError('INTERNAL', `There is no project "${project.slice(0, 80)}".`);
  return found;
}

/** An agent without a run gets one for each run of the hub. */
function callerOf(identity: CallerIdentity, { life, accounts }: ProcessParts): Caller {
  const { agent, project = fileProject, chain = [agent], tokenId, run, runKeys, answers } = identity;
  const runOfLife = `${agent.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 50)}-${life}`;
  const account = accounts.of(agent, project);
  const own = run === undefined ? { run: runOfLife, runOfHub: true as const } : { run };
  return { agent, project, chain, tokenId, ...own, runKeys, account, answers };
}

function cancelCalls(inFlight: LinkedList<Call>, isOver: (caller: Caller) => boolean): void {
  for (const call of inFlight) if (isOver(call.request.caller)) call.cancel('its token expired or was revoked');
}

async function closeProjects(
  { clock }: HubDeps,
  { inFlight }: ProcessParts,
  projects: ReadonlyMap<string, Project>,
): Promise<void> {
  for (const project of projects.values()) project.source.close();
  await drain(clock, inFlight);
  await Promise.all([...projects.values()].map((project) => project.close()));
}

/** It changes rights, so it is in the chain with the calls. While nothing can be recorded, no call is sent either. */
function recordConfiguration({ logger }: HubDeps, ledger: Ledger, servers: number): void {
  ledger
    .admin({ who: 'hub', how: 'hub', what: 'config.applied', subject: `${servers} servers` })
    .catch((error: unknown) => logger.error('ledger.act-not-recorded', { act: 'config.applied', error }));
}

/** Lets calls finish that may. A held call waits for a person, who gets no time any more. */
async function drain(clock: Clock, inFlight: LinkedList<Call>): Promise<void> {
  const until = clock.monotonic() + stopGraceMs;
  for (const call of inFlight) if (call.state === 'held') call.cancel(whyStopped(call.state));
  while (inFlight.size > 0 && clock.monotonic() < until) await sleep(clock, 20);
  for (const call of inFlight) call.cancel(whyStopped(call.state));
  if (inFlight.size > 0) await sleep(clock, 100);
}
