import type { Decision, Fleet, PolicyRule } from '../../domain/index.ts';
import { toolSpellings } from './name-list.ts';
import { compileRouting } from './routing.ts';
import { compileRuleSet, type RuleSet, strictness } from './rule-set.ts';
import { type CompiledFilter, compileFilter } from './tool-filter.ts';

/** What one chain of agents may do; list and call ask the same object. */
export interface AgentPolicy {
  /** Routing only. */
  seesServer(server: string): boolean;
  decide(server: string, tool: string, exposedName: string): Decision;
}

/** Compiles chains of one fleet and shares what they have in common. */
export type PolicyCompiler = (chain: readonly string[]) => AgentPolicy;

/** For one chain alone; whoever compiles many takes `createPolicyCompiler`. */
export function compilePolicy(fleet: Fleet, chain: readonly string[]): AgentPolicy {
  return createPolicyCompiler(fleet)(chain);
}

/** `chain` is the agent and those that delegated to it; its rights are the intersection of theirs. */
export function createPolicyCompiler(fleet: Fleet): PolicyCompiler {
  const routing = compileRouting(fleet);
  const globalRules = fleet.policy === undefined ? undefined : compileRuleSet(fleet.policy, fleet.servers);
  const rulesOf = remember((agent: string): RuleSet | undefined => {
    const policy = fleet.agents.get(agent)?.policy;
    return policy === undefined ? undefined : compileRuleSet(policy, fleet.servers);
  });

  return (chain) => {
    const agents = [...new Set(chain)];
    const sources: RuleSource[] = [{ rules: globalRules, agent: undefined }];
    for (const agent of agents) sources.push({ rules: rulesOf(agent), agent });
    const filtersOf = remember((server: string) => compileFilters(fleet, agents, server));

    // An empty chain is nobody, and nobody has rights.
    const blockedAt = (server: string): string | undefined =>
      agents.length === 0 ? 'nobody' : agents.find((agent) => !routing.sees(agent, server));

    return {
      seesServer: (server) => blockedAt(server) === undefined,
      decide(server, tool, exposedName) {
        const blocked = blockedAt(server);
        if (blocked !== undefined) return { effect: 'deny', reason: { kind: 'not-routed', agent: blocked } };
        const spellings = toolSpellings(server, tool, exposedName);
        for (const filter of filtersOf(server)) {
          const refusal = filter.refuse(spellings);
          if (refusal !== undefined) return refusal;
        }
        return decideByRules(sources, server, tool);
      },
    };
  };
}

interface RuleSource {
  readonly rules: RuleSet | undefined;
  /** Undefined for the rules that hold for everybody. */
  readonly agent: string | undefined;
}

const allowedByDefault: Decision = { effect: 'allow', reason: { kind: 'default' } };

/** Both levels apply: the server's own lists and those of every agent in the chain. */
function compileFilters(fleet: Fleet, agents: readonly string[], server: string): readonly CompiledFilter[] {
  const filters: CompiledFilter[] = [];
  const entry = fleet.servers.get(server);
  if (entry?.kind === 'ready') {
    filters.push(compileFilter(entry.spec.tools, `server ${server}`, entry.spec.source));
  }
  for (const name of agents) {
    const agent = fleet.agents.get(name);
    const filter = agent?.tools.get(server);
    if (agent !== undefined && filter !== undefined) filters.push(compileFilter(filter, `agent ${name}`, agent.source));
  }
  return filters;
}

/** Across sources deny beats ask beats allow; of equals the first source is named. */
function decideByRules(sources: readonly RuleSource[], server: string, tool: string): Decision {
  let best: { readonly rule: PolicyRule; readonly agent: string | undefined } | undefined;
  for (const { rules, agent } of sources) {
    const rule = rules?.find(server, tool);
    if (rule === undefined) continue;
    if (best === undefined || strictness(rule) > strictness(best.rule)) best = { rule, agent };
  }
  if (best === undefined) return allowedByDefault;
  const { pattern, source, effect } = best.rule;
  return {
    effect: effect === 'require-approval' ? 'ask' : effect,
    reason: { kind: 'rule', pattern, source, ...(best.agent === undefined ? {} : { agent: best.agent }) },
  };
}

function remember<V>(compute: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key));
    // The key was set on the line above; V itself may be undefined.
    return known.get(key) as V;
  };
}
