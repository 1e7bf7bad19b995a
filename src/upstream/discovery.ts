import { createHash } from 'node:crypto';
import { isJsonObject } from '../base/index.ts';
import { type Catalog, type MirroredArgument, onlyTools, type ToolDefinition } from '../domain/index.ts';
import { canonicalJson, scanMirroredArguments } from '../mcp/index.ts';
import { ask, controlRequest, type Wire, type WireFailure } from './wire.ts';

/** A list without end is a defect of the server, not a reason to wait without end. */
const maxPages = 64;
const maxTools = 10_000;

export type DiscoveryOutcome =
  | { readonly kind: 'found'; readonly catalog: Catalog }
  | { readonly kind: 'failed'; readonly reason: string; readonly failure: WireFailure | undefined };

export interface DiscoveryOptions {
  readonly now: number;
  /** For each page. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** All tools of a server, page by page. */
export async function discoverTools(wire: Wire, options: DiscoveryOptions): Promise<DiscoveryOutcome> {
  const tools = new Map<string, ToolDefinition>();
  const warnings: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const reply = await ask(wire, controlRequest('tools/list', params, options.timeoutMs), options.signal);
    if (reply.kind === 'failed') return { kind: 'failed', reason: reply.error.message, failure: reply };
    if (reply.kind === 'error') return { kind: 'failed', reason: reply.message, failure: undefined };
    if (!Array.isArray(reply.value.tools)) return { kind: 'failed', reason: 'no list of tools', failure: undefined };
    for (const item of reply.value.tools) addTool(tools, warnings, item, wire.transport);
    cursor = typeof reply.value.nextCursor === 'string' ? reply.value.nextCursor : undefined;
    if (cursor === undefined || tools.size > maxTools) break;
  }
  if (cursor !== undefined) warnings.push(`the list of tools did not end; ${tools.size} were taken`);
  return { kind: 'found', catalog: { ...onlyTools([...tools.values()], options.now), warnings } };
}

function addTool(tools: Map<string, ToolDefinition>, warnings: string[], item: unknown, transport: string): void {
  const read = readTool(item);
  if (read.kind === 'bad') {
    warnings.push(read.reason);
    return;
  }
  if (read.warning !== undefined && (transport === 'http' || !read.overHttpOnly)) warnings.push(read.warning);
  if (read.overHttpOnly && transport === 'http') return;
  if (tools.has(read.tool.name)) warnings.push(`tool "${read.tool.name}" is listed twice; the first one counts`);
  else tools.set(read.tool.name, read.tool);
}

export type ToolReading =
  | {
      readonly kind: 'good';
      readonly tool: ToolDefinition;
      readonly warning: string | undefined;
      /** The warning forbids the tool over HTTP and means nothing elsewhere. */
      readonly overHttpOnly: boolean;
    }
  | { readonly kind: 'bad'; readonly reason: string };

/** One tool as a server listed it, made fit for strict clients where only the schema's type is missing. */
export function readTool(item: unknown): ToolReading {
  if (!isJsonObject(item) || typeof item.name !== 'string' || item.name === '' || item.name.length > 256) {
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
  const mirrored = scanMirroredArguments(schema);
  const overHttpOnly = !mirrored.valid;
  if (!mirrored.valid) warning = `tool "${name}" was left out: ${mirrored.reason}`;
  const tool = toDefinition(name, { ...rest, inputSchema: schema }, mirrored.valid ? mirrored.mirrored : []);
  return { kind: 'good', tool, warning, overHttpOnly };
}

function toDefinition(
  name: string,
  rest: Record<string, unknown>,
  mirrored: readonly MirroredArgument[],
): ToolDefinition {
  const annotations = isJsonObject(rest.annotations) ? rest.annotations : {};
  return {
    name,
    // Spliced: an object would put a member called "0" before the name.
    text: `{"name":${JSON.stringify(name)},${JSON.stringify(rest).slice(1)}`,
    fingerprint: fingerprintOf({ name, ...rest }),
    safeToRepeat: annotations.readOnlyHint === true || annotations.idempotentHint === true,
    hints: { readOnly: yesOrNo(annotations.readOnlyHint), destructive: yesOrNo(annotations.destructiveHint) },
    mirrored,
  };
}

function yesOrNo(hint: unknown): boolean | null {
  return typeof hint === 'boolean' ? hint : null;
}

/** Covers everything a model reads; a hash that ignored descriptions would miss the attack. */
function fingerprintOf(definition: Record<string, unknown>): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  const subject = canonicalJson({ name, title, description, inputSchema, outputSchema, annotations });
  return createHash('sha256').update(subject).digest('hex');
}
