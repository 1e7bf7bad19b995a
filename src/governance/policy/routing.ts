import type { Configuration } from '../../domain/index.ts';
import type { PolicyEntry } from './policy-entries.ts';

/** The servers that an agent can reach. */
export interface Route {
  /** The agent's name in explanations. */
  readonly agent: string;
  leadsTo(server: string): boolean;
}

/**
 * If no entry routes, every agent gets every enabled server. Otherwise an agent gets the shared servers, and the
 * servers that both its own route and its role's name. A missing route does not restrict the other one. An agent
 * without any route gets only the shared servers.
 */
export function compileRouting(
  configuration: Configuration,
): (agent: string, entries: readonly PolicyEntry[]) => Route {
  const open = ![...configuration.agents.values()].some((agent) => agent.servers !== undefined);
  return (agent, entries) => {
    const names = compileNames(entries);
    return {
      agent: entries.at(-1)?.agent ?? agent,
      leadsTo(server) {
        const entry = configuration.servers.get(server);
        // An untrusted server is not started, and its agents should know why its tools are missing.
        if (entry?.kind === 'untrusted') return open || entry.shared || names(server);
        if (entry?.kind !== 'ready' || !entry.spec.enabled) return false;
        return open || entry.spec.shared || names(server);
      },
    };
  };
}

function compileNames(entries: readonly PolicyEntry[]): (server: string) => boolean {
  const lists = entries.flatMap(({ entry }) => (entry.servers === undefined ? [] : [new Set(entry.servers)]));
  return (server) => lists.length > 0 && lists.every((list) => list.has(server));
}
