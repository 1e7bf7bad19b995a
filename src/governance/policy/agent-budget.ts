import type { AccessRules, AgentBudget, Configuration } from '../../domain/index.ts';
import { policyEntriesFor } from './policy-entries.ts';

export type BudgetOf = (agent: string) => AgentBudget | undefined;

/** The budgets of one configuration, undefined if there are none: of an agent's own entry and its role's, and of both versions while a change waits. */
export function compileBudgets(configuration: Configuration): BudgetOf | undefined {
  const versions: readonly AccessRules[] = [
    configuration,
    ...(configuration.approvedRules ? [configuration.approvedRules] : []),
  ];
  const none = versions.every(({ agents }) => [...agents.values()].every(({ budget }) => budget === undefined));
  if (none) return undefined;
  const known = new Map<string, AgentBudget | undefined>();
  return (agent) => {
    if (!known.has(agent))
      known.set(agent, smallest(versions.flatMap((rules) => budgetsOf({ ...configuration, ...rules }, agent))));
    return known.get(agent);
  };
}

function budgetsOf(configuration: Configuration, agent: string): readonly AgentBudget[] {
  return policyEntriesFor(configuration, agent).flatMap(({ entry }) => entry.budget ?? []);
}

function smallest(budgets: readonly AgentBudget[]): AgentBudget | undefined {
  if (budgets.length === 0) return undefined;
  const least = (limit: (budget: AgentBudget) => number | undefined): number | undefined => {
    const limits = budgets.flatMap((budget) => limit(budget) ?? []);
    return limits.length === 0 ? undefined : Math.min(...limits);
  };
  return {
    callsPerMinute: least(({ callsPerMinute }) => callsPerMinute),
    callsPerHour: least(({ callsPerHour }) => callsPerHour),
    callsPerRun: least(({ callsPerRun }) => callsPerRun),
    bytesPerRun: least(({ bytesPerRun }) => bytesPerRun),
  };
}
