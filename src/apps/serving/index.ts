export { type ServedServer, type Serving, type ServingDeps, serveTools } from './serve.ts';
export {
  defineTool,
  type ServedTool,
  type ToolAnnotations,
  type ToolAnswer,
  type ToolContext,
  ToolFault,
} from './tool.ts';
