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
} from './agent-resource.ts';
export { type AgentTool, toAgentTool } from './agent-tool.ts';
export type {
  AnswerHandlers,
  Elicitation,
  ElicitationAnswer,
  LogLevel,
  LogMessage,
  RequestOrigin,
  Root,
  SamplingAnswer,
  SamplingMessage,
  SamplingRequest,
} from './answer-handlers.ts';
export type { CallAllOptions, CallOrder, CallOutcome } from './call-all.ts';
export type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  LinkedResource,
  ReceivedContent,
  TextContent,
  UnknownContent,
} from './content.ts';
export type { WaitOptions } from './deadline.ts';
export { type DiscoverTimeout, discoverWithin, locateTool } from './discover.ts';
export {
  type AgentOptions,
  type CreateHubOptions,
  createLibraryHub as createHub,
  type LibraryHub as Hub,
} from './library-hub.ts';
export type { HeldCall, ProgramApprovals } from './program-approvals.ts';
export { ApprovalPendingError, MCPServerError, McpRateLimitError } from './thrown-errors.ts';
export type { ToolName, ToolRef } from './tool-ref.ts';
export { expectAnswer, type ToolAnswer, type ToolResult } from './tool-result.ts';
export { type BackoffEvent, type BackoffOptions, withBackoff } from './with-backoff.ts';
