import { missingServers, statusToolName } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';

/** Models read this with every conversation; it stays short whatever is configured. */
const mostServers = 8;

/**
 * What an agent is told when it arrives: which of its servers have no tools in its list yet. Undefined when none is
 * missing. Nobody waits for this: servers that were never seen are asked, and the list waits for them.
 */
export function instructionsFor(hub: Hub, caller: Caller): string | undefined {
  const view = hub.views.of(caller.chain);
  if (view.unseen.length === 0) return undefined;
  hub.views.discover(caller.chain);
  const missing = missingServers(view);
  const lines = missing
    .slice(0, mostServers)
    .map(({ server, why, meanwhile }) => `- ${server} ${why}. Meanwhile: ${meanwhile}.`);
  if (missing.length > mostServers) lines.push(`- and ${missing.length - mostServers} more`);
  return [opening, ...lines].join('\n');
}

const opening = `These servers are not available yet, so their tools may be missing from your list. The list updates when they are; the tool ${statusToolName} says what is still missing.`;
