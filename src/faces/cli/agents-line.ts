import type { AddedServer } from './add-server.ts';
import type { Colours } from './colours.ts';

/** Which agents have a server that was just added; nothing where all have. */
export function agentsLine({ agents, lists }: AddedServer, { yellow }: Colours): string | undefined {
  if (agents === null) return undefined;
  return agents.length === 0
    ? `${yellow('warning')} No agent has it yet: name it in the lists of ${lists}, or set shared: true.`
    : `Agents that have it: ${agents.join(', ')}.`;
}
