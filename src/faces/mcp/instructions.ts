import { statusToolName } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';

/** Models read this at the start of every conversation, so it stays short whatever is configured. */
const mostServers = 8;

/**
 * The `instructions` of a client: which servers have no tools in its list yet. Undefined when none is missing. This
 * starts to discover such servers but does not wait for them; the list does.
 */
export function instructionsFor(hub: Hub, caller: Caller): string | undefined {
  hub.lists.discover(caller);
  const missing = hub.lists.missingServers(caller);
  if (missing.length === 0) return undefined;
  const lines = missing
    .slice(0, mostServers)
    .map(({ server, why, meanwhile }) => `- ${server} ${why}. Meanwhile: ${meanwhile}.`);
  if (missing.length > mostServers) lines.push(`- and ${missing.length - mostServers} more`);
  return [opening, ...lines].join('\n');
}

const opening = `These servers are not available yet, so their tools may be missing from your list. The list updates when they are; the tool ${statusToolName} says what is still missing.`;
