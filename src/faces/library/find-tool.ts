import type { View, ViewEntry } from '../../calls/index.ts';

/** The tool somebody means by `server.tool` or by the name the agent sees. */
export function findTool(view: View, text: string): ViewEntry | undefined {
  return view.bySubject.get(text) ?? view.entries.get(text);
}
