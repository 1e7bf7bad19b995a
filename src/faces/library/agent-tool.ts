import { isJsonObject } from '../../base/index.ts';
import type { View, ViewEntry } from '../../calls/index.ts';

/** One tool as an agent has it. */
export interface AgentTool {
  /** The name the agent sees and calls. */
  readonly name: string;
  readonly server: string;
  /** The server's own name for it. */
  readonly tool: string;
  /** `ask`: a rule wants a human to approve each call. */
  readonly decision: 'allow' | 'ask';
  readonly description: string | undefined;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export function listAgentTools(view: View): AgentTool[] {
  return [...view.entries.values()].map(toAgentTool);
}

export function toAgentTool({ name, server, tool, decision }: ViewEntry): AgentTool {
  const definition: unknown = JSON.parse(tool.text);
  const { description, inputSchema } = isJsonObject(definition) ? definition : {};
  return {
    name,
    server,
    tool: tool.name,
    // A view holds no denied tools.
    decision: decision.effect === 'ask' ? 'ask' : 'allow',
    description: typeof description === 'string' ? description : undefined,
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
  };
}
