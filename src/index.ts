export {
  type ErrorCode,
  type ErrorDetails,
  type ErrorRow,
  errorTable,
  HubError,
  type LogFields,
  type Logger,
} from './base/index.ts';
export type { ServerState, ServerStatus } from './domain/index.ts';
export {
  type Agent,
  type AgentOptions,
  type AgentTool,
  type CallOptions,
  type CallProgress,
  type ContentBlock,
  type CreateHubOptions,
  createHub,
  type Hub,
  type ToolResult,
} from './faces/library/index.ts';
