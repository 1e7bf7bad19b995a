import type { View, ViewEntry } from '../../calls/index.ts';

/** The tool somebody means by `server.tool` or by the name the agent sees. */
export function findTool(view: View, text: string): ViewEntry | undefined {
  let found: ViewEntry | undefined;
  for (const entry of view.entries.values()) {
    if (`${entry.server}.${entry.tool.name}` !== text) continue;
    // Names may hold dots themselves: the longest server name wins.
    if (found === undefined || entry.server.length > found.server.length) found = entry;
  }
  return found ?? view.entries.get(text);
}
