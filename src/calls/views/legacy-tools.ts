import { isJsonObject } from '../../base/index.ts';
import { withMembers } from '../../mcp/index.ts';

/** A definition for legacy clients, where an output schema must describe an object. */
export function legacyToolText(text: string): string {
  if (!text.includes('"outputSchema"')) return text;
  const { outputSchema } = JSON.parse(text) as { outputSchema?: unknown }; // a definition is an object
  if (outputSchema === undefined || (isJsonObject(outputSchema) && outputSchema.type === 'object')) return text;
  return withMembers(text, { outputSchema: undefined });
}
