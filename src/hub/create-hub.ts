import { type Clock, createId, HubError, type Logger, type RandomBytes, sleep, toHubError } from '../base/index.ts';
import {
  Call,
  type CallRequest,
  type CallResult,
  createCallPath,
  createNameBook,
  createViews,
  type Views,
} from '../calls/index.ts';
import { loadFleet, watchConfig } from '../config/index.ts';
import type { Caller, Decision, Fleet, ServerStatus } from '../domain/index.ts';
import { compilePolicy } from '../governance/index.ts';
import { type Ledger, openLedger } from '../ledger/index.ts';
import { createCatalogStore, ensureStateFolder, workspaceLayout } from '../storage/index.ts';
import { createChildren } from '../upstream/index.ts';
import { createRedactor } from '../vault/index.ts';
import { baseEnvironment } from './base-environment.ts';
import { createCrew } from './crew.ts';
import { openServerMemory } from './server-memory.ts';

/** Everything that stands behind the faces. */
export interface Hub {
  readonly workspace: string;
  readonly fleet: Fleet;
  readonly views: Views;
  readonly ledger: Ledger;
  readonly callsUnderWay: number;
  call(request: CallRequest): { readonly call: Call; readonly result: Promise<CallResult> };
  /** Somebody whose identity was proved, or the operator speaking as an agent. */
  callerFor(identity: CallerIdentity): Caller;
  status(): readonly ServerStatus[];
  /** Why an agent may or may not use a tool; for the operator. */
  explain(chain: readonly string[], server: string, tool: string): Decision;
  /** Connects servers and learns their tools; resolves when each has answered or failed. */
  discover(servers?: readonly string[]): Promise<void>;
  reload(): Promise<void>;
  onReload(listener: () => void): () => void;
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
}

export interface HubOptions {
  readonly workspace: string;
  /** Take up changes of the configuration files by itself. */
  readonly watch: boolean;
}

/** How long calls under way may take to finish when the hub stops. */
const stopGraceMs = 10_000;

export async function createHub(deps: HubDeps, options: HubOptions): Promise<Hub> {
  const { clock, logger, random, env } = deps;
  const fleet = await loadFleet({ env }, { workspace: options.workspace });
  refuseBroken(fleet);
  const layout = workspaceLayout(fleet.workspace);
  await ensureStateFolder(layout);
  const redact = replaceable(createRedactor(fleet.secrets));
  const ledger = await openLedger(
    { clock, logger, random, redact },
    { workspace: fleet.workspace, sync: fleet.ledger.sync },
  );
  const children = createChildren({ clock, logger, random }, { baseEnv: baseEnvironment(env) });
  await children.sweepStale();
  const catalogs = createCatalogStore(layout, { clock, random, logger });
  const memory = await openServerMemory(catalogs);
  const crew = createCrew(
    { clock, logger, random, children, memory, redact: (text) => redact.message(text), onChange: () => renew() },
    fleet,
  );
  let names = createNameBook(fleet.naming);
  const views = createViews({ clock }, { fleet, upstreams: crew.upstreams, names });
  const life = createId(random, 8);
  const state = { fleet, stopping: false, underWay: new Set<Call>() };
  const reloadListeners = new Set<() => void>();
  const runCall = createCallPath({
    clock,
    ledger,
    views,
    underWay: state.underWay,
    isStopping: () => state.stopping,
  });
  const watcher = options.watch
    ? watchConfig({ logger, clock }, { workspace: fleet.workspace, onChange: () => void reload().catch(() => {}) }) // said in the log
    : undefined;

  function renew(): void {
    views.renew({ fleet: state.fleet, upstreams: crew.upstreams, names });
  }

  async function reload(): Promise<void> {
    const next = await loadFleet({ env }, { workspace: options.workspace });
    try {
      refuseBroken(next);
    } catch (error) {
      logger.error('reload_refused', { error: toHubError(error).message });
      throw error;
    }
    if (state.stopping) return;
    if (next.naming !== state.fleet.naming) names = createNameBook(next.naming);
    state.fleet = next;
    redact.replace(createRedactor([...fleet.secrets, ...next.secrets]));
    crew.adopt(next);
    renew();
    logger.info('reloaded', { servers: next.servers.size, problems: next.problems.length });
    for (const listener of reloadListeners) listener();
  }

  async function drain(): Promise<void> {
    const until = clock.monotonic() + stopGraceMs;
    while (state.underWay.size > 0 && clock.monotonic() < until) await sleep(clock, 20);
    for (const call of state.underWay) call.cancel('the hub is shutting down');
    if (state.underWay.size > 0) await sleep(clock, 100);
  }

  let stopped: Promise<void> | undefined;
  async function shutDown(): Promise<void> {
    state.stopping = true;
    watcher?.close();
    await drain();
    await crew.close();
    await children.close();
    await catalogs.flush();
    await ledger.close();
  }

  return {
    workspace: fleet.workspace,
    get fleet() {
      return state.fleet;
    },
    views,
    ledger,
    get callsUnderWay() {
      return state.underWay.size;
    },
    call(request) {
      const call = new Call(request);
      return { call, result: runCall(call) };
    },
    callerFor: ({ agent, chain, tokenId, run }) => ({
      agent,
      chain: chain ?? [agent],
      tokenId,
      run: run ?? `${agent.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 50)}-${life}`,
    }),
    status: () => crew.status(),
    explain(chain, server, tool) {
      const policy = compilePolicy(state.fleet, chain);
      return policy.decide(server, tool, names.nameOf(server, tool));
    },
    async discover(servers) {
      const wanted = [...crew.upstreams].filter(([name]) => servers === undefined || servers.includes(name));
      await Promise.all(wanted.map(([, { control }]) => control.refresh()));
    },
    reload,
    onReload(listener) {
      reloadListeners.add(listener);
      return () => reloadListeners.delete(listener);
    },
    stop() {
      stopped ??= shutDown();
      return stopped;
    },
  };
}

/** A file that cannot be read, or rules that cannot be understood, must not mean "everything goes". */
function refuseBroken(fleet: Fleet): void {
  const fatal = fleet.problems.filter((problem) => problem.severity === 'error' && problem.server === undefined);
  const first = fatal[0];
  if (first === undefined) return;
  const where = first.line === undefined ? first.file : `${first.file}:${first.line}`;
  const more = fatal.length > 1 ? ` (and ${fatal.length - 1} more)` : '';
  throw new HubError('CONFIG_INVALID', `${where}: ${first.message}${more}`, {
    ...(first.fix === undefined ? {} : { hint: first.fix }),
    details: { problems: fatal },
  });
}

type Redact = ReturnType<typeof createRedactor>;

/** Sinks hold one redactor for life; a reload brings new secrets to hide. */
function replaceable(first: Redact): Redact & { replace(next: Redact): void } {
  let current = first;
  return {
    json: (text) => current.json(text),
    message: (text) => current.message(text),
    replace(next) {
      current = next;
    },
  };
}
