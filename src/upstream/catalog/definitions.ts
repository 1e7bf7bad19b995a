import { isJsonObject } from '../../base/index.ts';
import type {
  MirroredArgument,
  PromptDefinition,
  ResourceDefinition,
  TemplateDefinition,
  ToolDefinition,
} from '../../domain/index.ts';
import { scanMirroredArguments } from '../../mcp/index.ts';
import { definitionFingerprint, isCurrent } from './fingerprint.ts';

const maxNameLength = 256;
const maxUriLength = 2048;

export type ParsedTool =
  | {
      readonly kind: 'good';
      readonly tool: ToolDefinition;
      readonly warning: string | undefined;
      /** A warning for which the tool is left out over HTTP. Other transports ignore it. */
      readonly overHttpOnly: boolean;
    }
  | { readonly kind: 'bad'; readonly reason: string };

/**
 * One listed tool. Adds the schema's type if only that is missing, because strict clients require it. A tool whose text
 * is the same as in the earlier list is reused: a list of a thousand is often read because one tool changed.
 */
export function readTool(item: unknown, earlier?: ReadonlyMap<string, ToolDefinition>): ParsedTool {
  if (!isJsonObject(item) || typeof item.name !== 'string' || item.name === '' || item.name.length > maxNameLength) {
    return { kind: 'bad', reason: 'a tool without a usable name was left out' };
  }
  const { name, inputSchema, ...rest } = item;
  let warning: string | undefined;
  let schema = inputSchema;
  if (!isJsonObject(schema) || schema.type !== 'object') {
    if (schema !== undefined && (!isJsonObject(schema) || schema.type !== undefined)) {
      return { kind: 'bad', reason: `tool "${name}" was left out: its input schema is not an object schema` };
    }
    schema = { type: 'object', ...(isJsonObject(schema) ? schema : {}) };
    warning = `tool "${name}" has an input schema without a type; "object" was added`;
  }
  const definition = { ...rest, inputSchema: schema };
  const text = textOf('name', name, definition);
  const known = earlier?.get(name);
  if (known?.text === text && isCurrent(known.fingerprint) && !text.includes('x-mcp-header')) {
    return { kind: 'good', tool: known, warning, overHttpOnly: false };
  }
  const mirrored = scanMirroredArguments(schema);
  const overHttpOnly = !mirrored.valid;
  if (!mirrored.valid) warning = `tool "${name}" was left out: ${mirrored.reason}`;
  const tool = toDefinition({ name, text, definition }, mirrored.valid ? mirrored.mirrored : []);
  return { kind: 'good', tool, warning, overHttpOnly };
}

function toDefinition(
  { name, text, definition }: { name: string; text: string; definition: Record<string, unknown> },
  mirrored: readonly MirroredArgument[],
): ToolDefinition {
  const annotations = isJsonObject(definition.annotations) ? definition.annotations : {};
  return {
    name,
    text,
    fingerprint: definitionFingerprint(definition),
    safeToRepeat: annotations.readOnlyHint === true || annotations.idempotentHint === true,
    hints: { readOnly: yesOrNo(annotations.readOnlyHint), destructive: yesOrNo(annotations.destructiveHint) },
    mirrored,
  };
}

/** Spliced as text, because an object would put a member with the name "0" first. */
function textOf(member: string, value: string, rest: Record<string, unknown>): string {
  const others = JSON.stringify(rest).slice(1);
  return `{"${member}":${JSON.stringify(value)}${others === '}' ? '' : ','}${others}`;
}

function yesOrNo(hint: unknown): boolean | null {
  return typeof hint === 'boolean' ? hint : null;
}

/** One entry of another list. Undefined if its name or URI cannot be used in a request. */
export function readResource(item: unknown): ResourceDefinition | undefined {
  const read = readEntry(item, 'uri', maxUriLength);
  return read && { uri: read.id, text: read.text };
}

export function readTemplate(item: unknown): TemplateDefinition | undefined {
  const read = readEntry(item, 'uriTemplate', maxUriLength);
  return read && { uriTemplate: read.id, text: read.text, fingerprint: definitionFingerprint(read.rest) };
}

export function readPrompt(item: unknown): PromptDefinition | undefined {
  const read = readEntry(item, 'name', maxNameLength);
  return read && { name: read.id, text: read.text, fingerprint: definitionFingerprint(read.rest) };
}

function readEntry(
  item: unknown,
  member: string,
  maxLength: number,
): { id: string; text: string; rest: Record<string, unknown> } | undefined {
  if (!isJsonObject(item)) return undefined;
  const { [member]: id, ...rest } = item;
  if (typeof id !== 'string' || id === '' || id.length > maxLength || /\p{Cc}/u.test(id)) return undefined;
  return { id, text: textOf(member, id, rest), rest };
}
