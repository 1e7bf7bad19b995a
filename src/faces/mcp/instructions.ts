import type { View } from '../../calls/index.ts';
import type { Caller, ServerState } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';

/**
 * What an agent is told when it arrives: which of its servers are away, so that their tools are not in
 * its list. Undefined when none is. Servers that nobody has seen are waited for, as briefly as by a list.
 */
export async function instructionsFor(hub: Hub, caller: Caller): Promise<string | undefined> {
  if (hub.views.of(caller.chain).unseen.length === 0) return undefined;
  const { unseen } = await hub.views.settled(caller.chain);
  if (unseen.length === 0) return undefined;
  const lines = unseen.slice(0, mostServers).map(sayAway);
  if (unseen.length > mostServers) lines.push(`- and ${unseen.length - mostServers} more`);
  return [opening, ...lines].join('\n');
}

const opening =
  'These servers are away, so their tools are not in your list. The hub tries them again by itself, and the list changes when they are back.';

/** Models read this with every conversation; it stays short whatever is configured. */
const mostServers = 8;
const longestName = 64;
const longestAdvice = 200;

function sayAway(control: View['unseen'][number]): string {
  const { name, instead } = control.spec;
  const { state, error } = control.status();
  // Tried again after a failure, or for the first time.
  const word = state === 'connecting' && error !== undefined ? 'retrying' : state;
  const why = whyAway[word] ?? 'has not told its tools';
  const advice = instead?.trim().replace(/\.$/, '') || 'continue without its tools';
  return `- ${cut(name, longestName)} ${why}. Meanwhile: ${cut(advice, longestAdvice)}.`;
}

const whyAway: Partial<Record<ServerState, string>> = {
  connecting: 'has not answered yet',
  retrying: 'cannot be reached',
  'open-circuit': 'cannot be reached',
  'needs-login': 'wants a login',
  forbidden: "refuses the hub's credential",
};

function cut(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
