import type { AgentSpec, Configuration } from '../../domain/index.ts';

/** A configuration entry that applies to an agent. */
export interface PolicyEntry {
  readonly entry: AgentSpec;
  /** The owner of the entry, for the operator: `agent danny`, `role lead`. */
  readonly title: string;
  /** The agent, with its role if the entry is the role's: `danny`, or `danny (role lead)`. */
  readonly agent: string;
}

/**
 * The entries that apply to an agent: its own, then its role's. Routing, filters and rules all use this list. Both
 * apply, so an agent's own entry may narrow its role but never widen it. A role has no role of its own, so there are no
 * cycles.
 */
export function policyEntriesFor(configuration: Configuration, agent: string): readonly PolicyEntry[] {
  const entries: PolicyEntry[] = [];
  const own = configuration.agents.get(agent);
  if (own !== undefined) entries.push({ entry: own, title: `agent ${agent}`, agent });
  const role = configuration.roles.get(agent);
  const shared = role === undefined || role === agent ? undefined : configuration.agents.get(role);
  if (shared !== undefined) entries.push({ entry: shared, title: `role ${role}`, agent: `${agent} (role ${role})` });
  return entries;
}

/** Titles an entry when no particular agent is meant. An entry that agents have as their role is a role. */
export function entryTitles(configuration: Configuration): (name: string) => string {
  const roles = new Set([...configuration.roles].flatMap(([agent, role]) => (agent === role ? [] : [role])));
  return (name) => (roles.has(name) ? `role ${name}` : `agent ${name}`);
}
