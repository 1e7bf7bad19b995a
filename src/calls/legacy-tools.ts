import { isJsonObject } from '../base/index.ts';
import { withMembers } from '../mcp/index.ts';

/** A definition as a legacy client takes it: what a tool returns may only be described as an object there. */
export function legacyToolText(text: string): string {
  if (!text.includes('"outputSchema"')) return text;
  const { outputSchema } = JSON.parse(text) as { outputSchema?: unknown }; // a definition is an object
  if (outputSchema === undefined || (isJsonObject(outputSchema) && outputSchema.type === 'object')) return text;
  return withMembers(text, { outputSchema: undefined });
}
