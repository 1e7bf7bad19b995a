export { type ServedServer, type Serving, type ServingDeps, serveTools } from './serve-tools.ts';
export {
  defineTool,
  type ServedTool,
  type ToolAnnotations,
  type ToolContext,
  ToolFault,
  type ToolOutput,
} from './served-tool.ts';
