import { z } from 'zod';
import type { ServedTool } from './served-tool.ts';

/** The tool's entry in `tools/list`. */
export function toolText({ name, title, description, annotations, input }: ServedTool): string {
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  return JSON.stringify({ name, title, description, inputSchema, annotations });
}
