import type { AgentToolEntry } from '../../../calls/index.ts';
import type { Hub } from '../../../hub/index.ts';
import type { ToolUses } from '../../../ledger/index.ts';
import { agentNames } from '../agents/agent-names.ts';
import type { ToolAudit } from './audit-shapes.ts';
import { excludeTools, type SeenTool } from './exclude-snippet.ts';

/** The agents of the configuration, and others that made calls. */
export function auditedAgents({ configuration }: Pick<Hub, 'configuration'>, { agents }: ToolUses): readonly string[] {
  // The operator is no agent: these are probes of `qm doctor` and `qm inspect`.
  const callers = [...agents.keys()].filter((name) => name !== 'operator');
  return [...new Set([...agentNames(configuration), ...callers])].sort();
}

/** Compares the tools that an agent sees with those that it used. Starts no server. */
export function auditTools(hub: Hub, uses: ToolUses, agent: string): ToolAudit {
  const caller = hub.callerFor({ agent });
  const own = uses.agents.get(agent);
  const tools = hub.lists.tools(caller).map((entry) => {
    const { name, server, tool } = entry;
    const use = own?.of(server, tool.name);
    const tokens = estimateTokens(entry);
    return { name, server, tool: tool.name, tokens, uses: use?.count ?? 0, lastUsed: use?.last ?? null };
  });
  const unused = tools.filter(({ uses: count }) => count === 0);
  const used = tools.filter(({ uses: count }) => count > 0);
  const calls = own?.calls ?? 0;
  const { file, snippet } = excludeTools(hub.configuration, agent, { unused, used });
  return {
    agent,
    from: uses.from,
    calls,
    runs: own?.runs ?? 0,
    tools,
    tokens: sum(tools),
    unusedTokens: sum(unused),
    undiscovered: hub.lists.undiscovered(caller).map(({ name }) => name),
    file,
    // Of an agent that did nothing, nobody knows what it needs.
    snippet: calls === 0 ? null : snippet,
  };
}

function sum(tools: readonly (SeenTool & { readonly tokens: number })[]): number {
  return tools.reduce((total, { tokens }) => total + tokens, 0);
}

/** The usual ratio for English text and JSON. Each model counts in its own way. */
const bytesPerToken = 4;

/** Of the entry in the list that the model reads, with the exposed name. */
function estimateTokens({ name, tool }: AgentToolEntry): number {
  const bytes = (text: string): number => Buffer.byteLength(text);
  const entry = bytes(tool.text) - bytes(JSON.stringify(tool.name)) + bytes(JSON.stringify(name));
  return Math.ceil(entry / bytesPerToken);
}
