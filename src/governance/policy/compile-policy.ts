import type { WorkBudget } from '../../base/index.ts';
import { type Configuration, type Decision, permissionsInForce, type ToolHints } from '../../domain/index.ts';
import { type AccessGate, compileAccess } from './access-gate.ts';
import { bothPolicies } from './both-policies.ts';
import type { ChainRights } from './chain-rights.ts';
import { compileClientRules, createRuleFinders } from './client-rules.ts';
import { decideRead } from './decide-read.ts';
import { decideTool } from './decide-tool.ts';
import { compilePathGuard, type PathGuard } from './paths/path-guard.ts';
import { type PolicyEntry, policyEntriesFor } from './policy-entries.ts';
import { compileRouting } from './routing.ts';
import { rulesFor } from './rules/decide-by-rules.ts';
import { compilePermissions } from './rules/permission-set.ts';
import { compileRuleSet, type RuleSet } from './rules/rule-set.ts';
import { triedConfiguration, withShadow } from './shadow-policy.ts';
import { compileToolClass, type ToolClassesOf, unknownClasses } from './tool-class.ts';
import { type CompiledFilter, compileFilter } from './tool-filter.ts';
import type { FormsOf, ListedUri } from './uris/read-subject.ts';

/** The rights of one chain of agents. Listing and calling use the same object. */
export interface AgentPolicy {
  /** Considers routing only. */
  seesServer(server: string): boolean;
  /** `hints` is null if the server has not listed the tool. */
  decide(server: string, tool: string, exposedName: string, hints: ToolHints | null): Decision;
  /**
   * Decides on `resource:<uri>` or `prompt:<name>`, by the server's own names. Reading is not writing, so of the access
   * settings only an empty list of scopes applies. URIs are compared in their normal forms. Pass the templates for a
   * URI that the server does not list and the caller made up: rules on a matching template then apply too. Pass the
   * listed URI to share its normal forms with other agents. A URI that takes more work than the budget is denied;
   * decisions for one answer may share a budget.
   */
  decideRead(server: string, subject: string, origin?: FormsOf | ListedUri, budget?: WorkBudget): Decision;
}

/** Compiles chains for one configuration and shares their common parts. */
export type PolicyCompiler = (chain: readonly string[]) => AgentPolicy;

/** Compiles a single chain. To compile many, use `createPolicyCompiler`. */
export function compilePolicy(configuration: Configuration, chain: readonly string[]): AgentPolicy {
  return createPolicyCompiler(configuration)(chain);
}

/**
 * `chain` is the agent and the agents that delegated to it. Its rights are the intersection of theirs. While a change of
 * the rules waits for approval, they are the intersection of both versions.
 */
export function createPolicyCompiler(configuration: Configuration): PolicyCompiler {
  const compile = compileVersions(configuration);
  const tried = triedConfiguration(configuration);
  if (tried === undefined) return compile;
  const compileTried = compileVersions(tried);
  return (chain) => withShadow(compile(chain), compileTried(chain));
}

function compileVersions(configuration: Configuration): PolicyCompiler {
  const { approvedRules } = configuration;
  const compile = compileRules(configuration);
  if (approvedRules === undefined) return compile;
  const compileApproved = compileRules({ ...configuration, ...approvedRules });
  return (chain) => bothPolicies(compile(chain), compileApproved(chain));
}

function compileRules(configuration: Configuration): PolicyCompiler {
  const routeOf = compileRouting(configuration);
  const filters = compileFilters(configuration);
  const finders = createRuleFinders();
  const globalRules =
    configuration.policy === undefined ? undefined : compileRuleSet(configuration.policy, configuration.servers);
  const permissions = (
    configuration.permissions === undefined ? [] : permissionsInForce(configuration.permissions)
  ).map((each) => compilePermissions(each, configuration.servers));
  const rulesOf = remember((entry: string): RuleSet | undefined => {
    const policy = configuration.agents.get(entry)?.policy;
    return policy === undefined ? undefined : compileRuleSet(policy, configuration.servers);
  });
  const gateOf = remember((server: string): AccessGate | undefined => {
    const entry = configuration.servers.get(server);
    return entry?.kind === 'ready' ? compileAccess(entry.spec) : undefined;
  });
  const classesOf = remember((server: string): ToolClassesOf => {
    const entry = configuration.servers.get(server);
    return entry?.kind === 'ready' ? compileToolClass(entry.spec) : () => unknownClasses;
  });
  const pathsOf = remember((server: string): PathGuard | undefined => {
    const entry = configuration.servers.get(server);
    return entry?.kind === 'ready' ? compilePathGuard(entry.spec, configuration) : undefined;
  });

  return (chain) => {
    const agents = [...new Set(chain)];
    const members = agents.map((agent) => ({ agent, entries: policyEntriesFor(configuration, agent) }));
    const routes = members.map(({ agent, entries }) => routeOf(agent, entries));
    const agentRules = members.map(({ entries }) => rulesFor(entries, rulesOf));
    const rules = { everybody: globalRules, permissions, agents: agentRules };
    const entries = members.flatMap(({ entries }) => entries);
    const rights: ChainRights = {
      // An empty chain has no rights.
      blockedAt: (server) => (agents.length === 0 ? 'nobody' : routes.find((route) => !route.leadsTo(server))?.agent),
      filtersOf: remember((server) => [
        ...filters.own(server),
        ...entries.flatMap((entry) => filters.of(entry, server) ?? []),
      ]),
      gateOf,
      clientsOf: remember((server) => compileClientRules(configuration.servers.get(server), members, finders)),
      classesOf,
      pathsOf,
      rules,
    };
    return {
      seesServer: (server) => rights.blockedAt(server) === undefined,
      decide: (server, tool, exposedName, hints) => decideTool(rights, { server, tool, exposedName, hints }),
      decideRead: (server, subject, origin, budget) => decideRead(rights, { server, subject, origin, budget }),
    };
  };
}

/** The lists that apply to a server: its own, and those of every entry that applies to an agent in the chain. */
interface Filters {
  own(server: string): readonly CompiledFilter[];
  of(entry: PolicyEntry, server: string): CompiledFilter | undefined;
}

/** Agents share the lists of servers and roles, so each is compiled once. */
function compileFilters(configuration: Configuration): Filters {
  const byEntry = new Map<string, CompiledFilter>();
  return {
    own: remember((server) => {
      const entry = configuration.servers.get(server);
      if (entry?.kind !== 'ready') return [];
      const { spec } = entry;
      return [spec, ...spec.restrictedBy].map(({ tools, source }) =>
        compileFilter(tools, server, `server ${server}`, source),
      );
    }),
    of({ entry, title }, server) {
      const filter = entry.tools.get(server);
      if (filter === undefined) return undefined;
      const key = `${title}\0${server}`;
      const compiled = byEntry.get(key) ?? compileFilter(filter, server, title, entry.source);
      byEntry.set(key, compiled);
      return compiled;
    },
  };
}

function remember<V>(compute: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key));
    // The key is set. V itself may be undefined.
    return known.get(key) as V;
  };
}
