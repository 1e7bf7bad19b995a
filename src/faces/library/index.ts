export { type AgentTool, listAgentTools, toAgentTool } from './agent-tool.ts';
export {
  type Agent,
  type AgentOptions,
  type CallOptions,
  type CallProgress,
  type CreateHubOptions,
  createHub,
  type Hub,
} from './create-hub.ts';
export { discoverWithin, locateTool, type Patience } from './discover.ts';
export { type ContentBlock, expectAnswer, type ToolAnswer, type ToolResult } from './tool-result.ts';
