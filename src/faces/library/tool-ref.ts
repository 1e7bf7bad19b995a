import { HubError, isJsonObject } from '../../base/index.ts';
import type { View, ViewEntry } from '../../calls/index.ts';

/** One tool of one server, named without a doubt. */
export interface ToolRef {
  readonly type: 'mcp';
  readonly server: string;
  readonly tool: string;
}

/** A tool by `server.tool`, by the name the agent sees, or by both of its names. */
export type ToolName = string | ToolRef;

export function findTool(view: View, name: ToolName): ViewEntry | undefined {
  const text = textOf(name);
  const found = view.bySubject.get(text) ?? (typeof name === 'string' ? view.entries.get(text) : undefined);
  if (typeof name === 'string' || (found !== undefined && isFor(name, found))) return found;
  // Two pairs of names may read the same with a dot between them.
  return [...view.entries.values()].find((entry) => isFor(name, entry));
}

export function isFor({ server, tool }: ToolRef, entry: ViewEntry): boolean {
  return entry.server === server && entry.tool.name === tool;
}

export function textOf(name: ToolName): string {
  return typeof name === 'string' ? name : `${name.server}.${name.tool}`;
}

/** What a program without types may have passed instead. */
export function checkRefs(refs: readonly unknown[]): void {
  for (const ref of refs) {
    const { type, server, tool } = isJsonObject(ref) ? ref : {};
    if (type === 'mcp' && typeof server === 'string' && typeof tool === 'string') continue;
    throw new HubError('USAGE', `${shown(ref)} selects no tool.`, {
      hint: "Write { type: 'mcp', server: 'NAME', tool: 'NAME' }.",
    });
  }
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 200);
}
