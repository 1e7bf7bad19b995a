export type {
  Agent,
  CallOptions,
  CallProgress,
} from './agent.ts';
export type {
  AgentPrompt,
  AgentResource,
  AgentResourceTemplate,
  CompletionArgument,
  CompletionRef,
  CompletionResult,
  PromptArgument,
  PromptMessage,
  PromptResult,
  ReadResult,
  ResourceContents,
} from './agent-reading.ts';
export { type AgentTool, listAgentTools, toAgentTool } from './agent-tool.ts';
export type { CallAllOptions, CallOrder, CallOutcome } from './call-all.ts';
export { type AgentOptions, type CreateHubOptions, createHub, type Hub } from './create-hub.ts';
export type { WaitOptions } from './deadline.ts';
export { discoverWithin, locateTool, type Patience } from './discover.ts';
export type {
  AnswerHandlers,
  AskedBy,
  Elicitation,
  ElicitationAnswer,
  LogLevel,
  LogMessage,
  Root,
  SamplingAnswer,
  SamplingMessage,
  SamplingRequest,
} from './questions.ts';
export { MCPServerError, McpRateLimitError } from './thrown-errors.ts';
export type { ToolName, ToolRef } from './tool-ref.ts';
export { type ContentBlock, expectAnswer, type ToolAnswer, type ToolResult } from './tool-result.ts';
export { type BackoffEvent, type BackoffOptions, withBackoff } from './with-backoff.ts';
