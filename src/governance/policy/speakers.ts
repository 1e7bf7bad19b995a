import type { AgentSpec, Fleet } from '../../domain/index.ts';

/** One entry of the configuration that holds for an agent. */
export interface Speaker {
  readonly entry: AgentSpec;
  /** Whose lists these are, in words for the operator: `agent danny`, `role lead`. */
  readonly title: string;
  /** The agent as the entry concerns it: `danny`, or `danny (role lead)`. */
  readonly agent: string;
}

/**
 * The entries that speak for an agent: its own, then that of its role. Routing, filters and rules all ask here. Both
 * apply, so an agent's own entry may narrow its role and never widen it. A role has no role: one step, no circles.
 */
export function speakersFor(fleet: Fleet, agent: string): readonly Speaker[] {
  const speakers: Speaker[] = [];
  const own = fleet.agents.get(agent);
  if (own !== undefined) speakers.push({ entry: own, title: `agent ${agent}`, agent });
  const role = fleet.roles.get(agent);
  const shared = role === undefined || role === agent ? undefined : fleet.agents.get(role);
  if (shared !== undefined) speakers.push({ entry: shared, title: `role ${role}`, agent: `${agent} (role ${role})` });
  return speakers;
}

/** What to call an entry when no particular agent is meant: one that agents have as their role is a role. */
export function entryTitles(fleet: Fleet): (name: string) => string {
  const roles = new Set([...fleet.roles].flatMap(([agent, role]) => (agent === role ? [] : [role])));
  return (name) => (roles.has(name) ? `role ${name}` : `agent ${name}`);
}
