export {
  defineTool,
  type ServedTool,
  type ToolAnnotations,
  type ToolAnswer,
  type ToolContext,
  ToolFault,
} from './tool.ts';
