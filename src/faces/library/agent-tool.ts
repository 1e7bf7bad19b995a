import { isJsonObject } from '../../base/index.ts';
import type { AgentToolEntry } from '../../calls/index.ts';

/** A tool the agent can call. */
export interface AgentTool {
  /** The name the agent sees and calls. */
  readonly name: string;
  readonly server: string;
  /** The server's own name for it. */
  readonly tool: string;
  /** `ask`: a human must approve each call. */
  readonly decision: 'allow' | 'ask';
  readonly description: string | undefined;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export function toAgentTool({ name, server, tool, decision }: AgentToolEntry): AgentTool {
  const definition: unknown = JSON.parse(tool.text);
  const { description, inputSchema } = isJsonObject(definition) ? definition : {};
  return {
    name,
    server,
    tool: tool.name,
    // A list contains no denied tools.
    decision: decision.effect === 'ask' ? 'ask' : 'allow',
    description: typeof description === 'string' ? description : undefined,
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
  };
}
