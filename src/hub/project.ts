import {
  type Call,
  type CallPathDeps,
  type CallResult,
  createAgentBudgets,
  createAllowedSubscriptions,
  createCallPath,
  createViews,
  type ViewSource,
  type Views,
} from '../calls/index.ts';
import { createRootsFilter } from '../config/index.ts';
import { compileBudgets, compileSharedRates } from '../governance/index.ts';
import { createCatalogStore } from '../storage/index.ts';
import type { ConfigurationSource } from './configuration/configuration-source.ts';
import { createDiagnosis } from './diagnosis/diagnosis.ts';
import type { EmitEvent } from './events/event-emitter.ts';
import { createExplain } from './explain-decision.ts';
import type { DefinitionReview } from './findings/definition-review.ts';
import { reviewPool } from './findings/review-pool.ts';
import type { Hub, HubDeps } from './hub.ts';
import { createNameBooks, type NameBooks } from './name-books.ts';
import type { ProcessParts } from './process-parts.ts';
import { coverOptions, programContext } from './project-programs.ts';
import { openServerMemory } from './server-memory.ts';
import { createUpstreamPool, type UpstreamPool } from './upstream-pool.ts';

/** One configuration with its servers, names and views. The file workspace is one. Each caller names its project. */
export interface Project {
  readonly source: ConfigurationSource;
  readonly pool: UpstreamPool;
  readonly names: NameBooks;
  readonly views: Views;
  readonly explain: Hub['explain'];
  readonly definitions: DefinitionReview;
  readonly explainerFor: Hub['explainerFor'];
  readonly runCall: (call: Call) => Promise<CallResult>;
  readonly subscribeAllowed: ReturnType<typeof createAllowedSubscriptions>;
  readonly diagnosis: Hub['diagnosis'];
  /** After the last call has ended. */
  close(): Promise<void>;
}

export interface ProjectOptions {
  /** As callers name it. */
  readonly name: string;
  readonly source: ConfigurationSource;
  readonly emit: EmitEvent;
  /** Connect to undiscovered servers at once instead of on first use. */
  readonly discover: boolean;
  readonly isStopping: () => boolean;
  readonly approvals: CallPathDeps['approvals'];
}

export async function openProject(deps: HubDeps, parts: ProcessParts, options: ProjectOptions): Promise<Project> {
  const { clock } = deps;
  const { source, emit, isStopping, approvals } = options;
  const { catalogs, names, memory } = await openMemory(deps, parts, options);
  const shared = {
    ...deps,
    ...parts,
    programs: programContext(deps, parts, source),
    memory,
    redact: parts.redaction.said,
  };
  const pool = createUpstreamPool(
    { ...shared, notices: parts.listeners, emit, onServersChange: renew },
    { configuration: source.configuration, discover: options.discover },
  );
  const views = createViews({ clock }, viewSource());
  const definitions = reviewPool({ ...deps, emit, redact: shared.redact }, pool, views);
  const filterRoots = createRootsFilter(deps, () => coverOptions(deps, parts, source.configuration));

  let budgetOf = compileBudgets(source.configuration);
  let sharedRates = compileSharedRates(source.configuration);
  const budgets = createAgentBudgets({ clock, budgets: () => budgetOf, rates: () => sharedRates });

  function viewSource(): ViewSource {
    return { configuration: source.configuration, upstreams: pool.upstreams, caches: pool.caches, ...names.forViews() };
  }

  function renew(): void {
    views.renew(viewSource());
  }

  parts.redaction.learn(source.configuration);
  keepAccounts(parts, options);
  source.onReload((configuration) => {
    names.adopt(configuration);
    budgetOf = compileBudgets(configuration);
    sharedRates = compileSharedRates(configuration);
    parts.redaction.learn(configuration);
    pool.adopt(configuration);
    renew();
  });

  return {
    source,
    pool,
    names,
    views,
    definitions,
    explain: createExplain(() => source.configuration, pool, names),
    explainerFor: (configuration) => createExplain(() => configuration, pool, names),
    diagnosis: (options) => createDiagnosis({ ...shared, ...lookups(source, pool, definitions) }, options),
    runCall: createCallPath({ ...deps, ...parts, ...parts.signed, views, budgets, isStopping, filterRoots, approvals }),
    subscribeAllowed: createAllowedSubscriptions(views),
    async close() {
      definitions.close();
      await pool.close();
      await catalogs.flush();
    },
  };
}

/** What a diagnosis looks up in the project. */
function lookups(source: ConfigurationSource, pool: UpstreamPool, { findingsIn }: DefinitionReview) {
  return { running: () => pool.upstreams, configuration: () => source.configuration, findingsIn };
}

/** The stored lists of servers, and the names that follow from them. */
async function openMemory(
  { clock, random, logger }: HubDeps,
  { layout }: ProcessParts,
  { name, source }: ProjectOptions,
) {
  const catalogs = createCatalogStore(layout, { clock, random, logger });
  const names = createNameBooks(source.configuration);
  return { catalogs, names, memory: await openServerMemory(catalogs, name) };
}

/** A configured agent has a share before its first call, and one account for all its callers. */
function keepAccounts({ accounts }: ProcessParts, { name, source }: ProjectOptions): void {
  const keep = ({ agents }: ConfigurationSource['configuration']): void =>
    accounts.keep(name, agents.keys(), 'configured');
  keep(source.configuration);
  source.onReload(keep);
}
