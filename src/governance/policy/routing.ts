import type { Fleet } from '../../domain/index.ts';

/** Which servers an agent has at all. */
export interface Routing {
  sees(agent: string, server: string): boolean;
}

/**
 * Where nothing routes, everybody sees every enabled server. Where anything routes, an agent gets the
 * shared servers and those its own route names; an agent without a route gets only the shared ones.
 */
export function compileRouting(fleet: Fleet): Routing {
  const open = ![...fleet.agents.values()].some((agent) => agent.servers !== undefined);
  const routes = new Map<string, ReadonlySet<string>>();
  for (const agent of fleet.agents.values()) routes.set(agent.name, new Set(agent.servers));
  return {
    sees(agent, server) {
      const entry = fleet.servers.get(server);
      if (entry?.kind !== 'ready' || !entry.spec.enabled) return false;
      return open || entry.spec.shared || (routes.get(agent)?.has(server) ?? false);
    },
  };
}
