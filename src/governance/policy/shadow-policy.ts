import {
  type AccessRules,
  type AgentSpec,
  type Configuration,
  type Decision,
  type DecisionCondition,
  decideOn,
  type ToolPolicy,
} from '../../domain/index.ts';
import type { AgentPolicy } from './compile-policy.ts';

/**
 * The configuration as it would be if all shadow policies were enforced, in the approved version of the rules too.
 * Undefined if there is none.
 */
export function triedConfiguration({ shadow, ...configuration }: Configuration): Configuration | undefined {
  const { approvedRules } = configuration;
  const versions = [{ agents: configuration.agents, shadow }, ...(approvedRules === undefined ? [] : [approvedRules])];
  if (!versions.some(triesRules)) return undefined;
  return {
    ...configuration,
    ...triedRules(configuration, shadow),
    ...(approvedRules === undefined ? {} : { approvedRules: triedRules(approvedRules, approvedRules.shadow) }),
  };
}

function triesRules({ agents, shadow }: Pick<AccessRules, 'agents'> & { readonly shadow?: unknown }): boolean {
  return shadow !== undefined || [...agents.values()].some((agent) => agent.shadow !== undefined);
}

function triedRules({ agents, roles, policy }: AccessRules, shadow: ToolPolicy | undefined): AccessRules {
  return {
    agents: new Map([...agents].map(([name, agent]) => [name, triedAgent(agent)])),
    roles,
    policy: shadow ?? policy,
  };
}

function triedAgent({ shadow, ...agent }: AgentSpec): AgentSpec {
  return shadow === undefined ? agent : { ...agent, policy: shadow };
}

/**
 * Decides by `enforced` alone. `tried` is asked when a call is recorded, so lists cost nothing more. Neither the budget nor
 * the work on listed URIs is shared: what `tried` spends must not deny anything.
 */
export function withShadow(enforced: AgentPolicy, tried: AgentPolicy): AgentPolicy {
  return {
    seesServer: (server) => enforced.seesServer(server),
    decide: (server, tool, exposedName, hints) => ({
      ...enforced.decide(server, tool, exposedName, hints),
      shadow: onFirstUse(() => tried.decide(server, tool, exposedName, hints)),
    }),
    decideRead(server, subject, origin, budget) {
      const templates = typeof origin === 'function' ? origin : undefined;
      const shadow = onFirstUse(() => tried.decideRead(server, subject, templates));
      return { ...enforced.decideRead(server, subject, origin, budget), shadow };
    },
  };
}

function onFirstUse(decide: () => Decision): DecisionCondition {
  let decision: Decision | undefined;
  return (call) => {
    decision ??= decide();
    return decideOn(decision, call);
  };
}
