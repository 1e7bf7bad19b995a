import type { Configuration } from '../../../domain/index.ts';

/** The agents of a configuration. A role that agents of a roster have is no agent itself. */
export function agentNames({ agents, roles }: Pick<Configuration, 'agents' | 'roles'>): readonly string[] {
  const taken = new Set(roles.values());
  const own = [...agents.keys()].filter((name) => roles.has(name) || !taken.has(name));
  return [...new Set([...own, ...roles.keys()])];
}
