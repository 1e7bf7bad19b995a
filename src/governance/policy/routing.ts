import type { Fleet } from '../../domain/index.ts';
import type { Speaker } from './speakers.ts';

/** Which servers one agent has at all. */
export interface Route {
  /** The agent as an explanation names it. */
  readonly agent: string;
  leadsTo(server: string): boolean;
}

/**
 * Where nothing routes, everybody sees every enabled server. Where anything routes, an agent gets the shared servers
 * and those that its own route and its role's both name; of the two, one that is absent says nothing. An agent without
 * any route gets only the shared ones.
 */
export function compileRouting(fleet: Fleet): (agent: string, speakers: readonly Speaker[]) => Route {
  const open = ![...fleet.agents.values()].some((agent) => agent.servers !== undefined);
  return (agent, speakers) => {
    const names = compileNames(speakers);
    return {
      agent: speakers.at(-1)?.agent ?? agent,
      leadsTo(server) {
        const entry = fleet.servers.get(server);
        if (entry?.kind !== 'ready' || !entry.spec.enabled) return false;
        return open || entry.spec.shared || names(server);
      },
    };
  };
}

function compileNames(speakers: readonly Speaker[]): (server: string) => boolean {
  const lists = speakers.flatMap(({ entry }) => (entry.servers === undefined ? [] : [new Set(entry.servers)]));
  return (server) => lists.length > 0 && lists.every((list) => list.has(server));
}
