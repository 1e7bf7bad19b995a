export {
  callTool,
  discoverResult,
  emptyResult,
  honoredFilter,
  initializeResult,
  listTools,
  methodNotFound,
  type Request,
  subscriptionEnd,
  subscriptionMessage,
  type ToolCall,
  toolsChanged,
} from './answers.ts';
