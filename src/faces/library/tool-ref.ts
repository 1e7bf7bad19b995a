import { HubError, isJsonObject } from '../../base/index.ts';
import type { AgentToolEntry } from '../../calls/index.ts';

/** Names one tool of one server unambiguously. */
export interface ToolRef {
  readonly type: 'mcp';
  readonly server: string;
  readonly tool: string;
}

/** A tool by `server.tool`, by the name the agent sees, or by a ToolRef. */
export type ToolName = string | ToolRef;

/** A tool in the agent's list, found by the rules of calls: `server.tool` first, and of two servers the longer name. */
export function findTool(tools: readonly AgentToolEntry[], name: ToolName): AgentToolEntry | undefined {
  if (typeof name !== 'string')
    return tools.find(({ server, tool }) => server === name.server && tool.name === name.tool);
  const [bySubject] = tools
    .filter(({ server, tool }) => `${server}.${tool.name}` === name)
    .sort((a, b) => b.server.length - a.server.length);
  return bySubject ?? tools.find((entry) => entry.name === name);
}

export function textOf(name: ToolName): string {
  return typeof name === 'string' ? name : `${name.server}.${name.tool}`;
}

/** Rejects values that an untyped program may have passed. */
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
