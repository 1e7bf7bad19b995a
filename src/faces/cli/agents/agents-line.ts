import type { AddedServer } from '../servers/add-server.ts';
import type { Colours } from '../terminal/colours.ts';

/** Lists the agents that have a server that was just added; undefined if all have it. */
export function agentsLine({ agents, lists }: AddedServer, { yellow }: Colours): string | undefined {
  if (agents === null) return undefined;
  return agents.length === 0
    ? `${yellow('warning')} No agent has it yet: name it in the lists of ${lists}, or set shared: true.`
    : `Agents that have it: ${agents.join(', ')}.`;
}
