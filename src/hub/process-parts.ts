import { getHeapStatistics } from 'node:v8';
import {
  type AgentAccounts,
  accountsForHeap,
  createAgentAccounts,
  createId,
  defaultPath,
  environmentOutside,
  LinkedList,
  pathOutside,
} from '../base/index.ts';
import {
  type Call,
  createRefusedCalls,
  createRunLabels,
  createTracedCalls,
  type RefusedCalls,
  type RunLabels,
  type TracedCalls,
} from '../calls/index.ts';
import type { Configuration } from '../domain/index.ts';
import { type Ledger, openLedger } from '../ledger/index.ts';
import { createRequestStates, createTaskIds, type RequestStates, type TaskIds } from '../mcp/index.ts';
import {
  ensureStateKey,
  ledgerPlaces,
  openRunLabelFile,
  putStateKey,
  putStateScript,
  type WorkspaceLayout,
  workspaceLayout,
} from '../storage/index.ts';
import { type Children, createChildren, createStartQueue, npmShellScript, type StartQueue } from '../upstream/index.ts';
import { baseEnvironment } from './base-environment.ts';
import type { NoticeListener } from './client-notices.ts';
import type { HubDeps } from './hub.ts';
import { createRedaction, type Redaction } from './redaction.ts';
import { openStateKeeper, type StateKeeper } from './state-keeper.ts';
import { takeOverEarlierState } from './take-over-earlier-state.ts';

/** The parts that a process has once, for all its projects. */
export interface ProcessParts {
  readonly layout: WorkspaceLayout;
  readonly state: StateKeeper;
  readonly redaction: Redaction;
  readonly ledger: Ledger;
  readonly refused: RefusedCalls;
  readonly traced: TracedCalls | undefined;
  /** The labels of runs. */
  readonly labels: RunLabels;
  readonly children: Children;
  /** The path of the shell with which npm starts programs. */
  readonly npmShell: string;
  /** How many servers start at once. */
  readonly starts: StartQueue;
  /** The agents' shares of the hub. */
  readonly accounts: AgentAccounts;
  readonly inFlight: LinkedList<Call>;
  /** The listeners for notifications to client sessions, by session. */
  readonly listeners: Map<string, NoticeListener>;
  /** Signed with the key of this state folder. */
  readonly signed: { readonly states: RequestStates; readonly taskIds: TaskIds };
  /** Identifies this run of the process. */
  readonly life: string;
  close(): Promise<void>;
}

/** How long a client may take to call again with its input. */
const stateLifeMs = 60 * 60_000;

export async function openProcessParts(
  deps: HubDeps,
  configuration: Configuration,
  stateHome: string,
): Promise<ProcessParts> {
  const { clock, logger, random, tracer } = deps;
  const { workspace, ledger: settings } = configuration;
  const layout = workspaceLayout(workspace, stateHome);
  const state = await openStateKeeper({ clock, logger, random }, layout);
  await takeOverEarlierState(deps, layout).catch((error: unknown) => {
    state.close();
    throw error;
  });
  const redaction = createRedaction(configuration);
  const ledgerDeps = { clock, logger, random, redact: redaction, restoreFolder: state.restore };
  const ledgerOptions = { ...ledgerPlaces(layout), sync: settings.sync, retention: settings };
  const ledger = await openLedger(ledgerDeps, ledgerOptions).catch((error: unknown) => {
    state.close();
    throw error;
  });
  const children = await openChildren(deps, layout);
  const refused = createRefusedCalls({ clock, ledger });
  return {
    layout,
    state,
    redaction,
    ledger,
    refused,
    traced: tracer === undefined ? undefined : createTracedCalls(tracer, redaction),
    labels: createRunLabels(openRunLabelFile(layout, { logger })),
    children,
    npmShell: placeNpmShell(deps, layout, state),
    starts: createStartQueue({ clock }),
    accounts: createAgentAccounts(accountsForHeap(getHeapStatistics().heap_size_limit)),
    inFlight: new LinkedList(),
    listeners: new Map(),
    signed: await openSigning(deps, layout, state),
    life: createId(random, 8),
    async close() {
      await children.close();
      refused.close();
      await ledger.close();
      state.close();
      logger.debug('hub.stopped');
    },
  };
}

async function openChildren(deps: HubDeps, { workspace }: WorkspaceLayout): Promise<Children> {
  const { clock, logger, random, env, builtins } = deps;
  const { dropped } = pathOutside(workspace, env.PATH ?? defaultPath);
  if (dropped.length > 0) logger.warn('hub.path-folders-ignored', { folders: dropped });
  const baseEnv = baseEnvironment(environmentOutside(workspace, env));
  const children = createChildren({ clock, logger, random }, { baseEnv, builtins });
  await children.sweepStale();
  return children;
}

function placeNpmShell({ random }: HubDeps, layout: WorkspaceLayout, state: StateKeeper): string {
  const place = (): string => putStateScript(layout, 'npm-shell', npmShellScript, random);
  state.onRestored(async () => void place());
  return place();
}

async function openSigning({ clock, random }: HubDeps, layout: WorkspaceLayout, state: StateKeeper) {
  const key = await ensureStateKey(layout, random);
  state.onRestored(() => putStateKey(layout, key, random));
  return { states: createRequestStates({ clock, key }, { lifeMs: stateLifeMs }), taskIds: createTaskIds({ key }) };
}
