export type {
  Agent,
  CallOptions,
  CallProgress,
} from './agent.ts';
export { type AgentTool, listAgentTools, toAgentTool } from './agent-tool.ts';
export type { CallAllOptions, CallOrder, CallOutcome } from './call-all.ts';
export { type AgentOptions, type CreateHubOptions, createHub, type Hub } from './create-hub.ts';
export { discoverWithin, locateTool, type Patience } from './discover.ts';
export { MCPServerError, McpRateLimitError } from './thrown-errors.ts';
export type { ToolName, ToolRef } from './tool-ref.ts';
export { type ContentBlock, expectAnswer, type ToolAnswer, type ToolResult } from './tool-result.ts';
export { type BackoffEvent, type BackoffOptions, withBackoff } from './with-backoff.ts';
