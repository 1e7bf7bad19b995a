import { createSilentLogger } from '../../../base/index.ts';
import { type LoadedConfiguration, loadWithSources, type SourceText } from '../../../config/index.ts';
import type { Configuration, Problem } from '../../../domain/index.ts';
import { stateHomeFor } from '../../../storage/index.ts';
import type { PendingItem } from '../../../trust/index.ts';
import {
  clockTime,
  loadTrusted,
  openTrustChanges,
  retainedNotice,
  type TrustChanges,
} from '../../../workspace-trust/index.ts';
import { recordTrust } from '../acts/recorded-trust.ts';
import type { CliContext } from '../context.ts';
import { loadDeps } from '../servers/load-workspace.ts';

type Process = Pick<CliContext, 'env' | 'clock' | 'random'>;

/** What of the workspace's files is trusted, read without a hub. */
export interface WorkspaceTrust {
  readonly loaded: LoadedConfiguration;
  /** The configuration as a hub would use it. */
  readonly configuration: Configuration;
  /** Items on disk that nobody approved. */
  readonly pending: readonly PendingItem[];
  /** Items on disk that are approved, by hash. */
  readonly approved: ReadonlySet<string>;
  /** Servers that are approved on this branch and not configured any more. */
  readonly removed: readonly string[];
  /** Files that are not used as they are on disk. */
  readonly notices: readonly Problem[];
  /** Another folder than the approved one is at the path of the workspace. */
  readonly replaced: boolean;
  /** False: the workspace is in a folder that needs no question. */
  readonly asks: boolean;
}

export async function readWorkspaceTrust(cli: Process, workspace: string): Promise<WorkspaceTrust> {
  const { clock, random, env } = cli;
  const loading = loadDeps(cli, workspace);
  const options = { workspace, stateHome: stateHomeFor(workspace, env), mode: 'stored' } as const;
  const { disk: loaded, trust, files } = await loadTrusted({ clock, random, env, loading }, options);
  const { retained, at } = files;
  const judged = await trust.judge(loaded);
  const { configuration } = retained.length === 0 ? judged : await trust.judge(files.loaded);
  const time = clockTime(at, clock.now());
  return {
    loaded,
    configuration,
    pending: judged.pending,
    approved: new Set(judged.approved.map(({ hash }) => hash)),
    removed: judged.removed,
    notices: retained.map((each) => retainedNotice(each, { time, asks: trust.asks })),
    replaced: judged.replaced === true,
    asks: trust.asks,
  };
}

/** The configuration that these texts would give, and nothing else on disk. */
export function loadTexts(
  cli: Process,
  workspace: string,
  texts: ReadonlyMap<string, SourceText>,
): Promise<LoadedConfiguration> {
  return loadWithSources(loadDeps(cli, workspace), { workspace, instead: texts, only: true });
}

/** Each change is in the audit log before it takes effect. */
export async function openChanges(cli: CliContext, workspace: string): Promise<TrustChanges> {
  const { clock, random, env } = cli;
  const deps = { clock, random, logger: createSilentLogger() };
  const changes = await openTrustChanges(deps, { workspace, stateHome: stateHomeFor(workspace, env) });
  return recordTrust(cli, workspace, changes);
}
