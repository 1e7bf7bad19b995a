import { isJsonObject } from '../../base/index.ts';
import type { Listed } from '../../calls/index.ts';
import { type ReceivedContent, receivedContent } from './content.ts';
import type { OperationAnswer } from './operate.ts';

/** A resource the agent can read. */
export interface AgentResource {
  /** The URI the agent sees and reads. */
  readonly uri: string;
  readonly server: string;
  /** `ask`: a human must approve each read. */
  readonly decision: 'allow' | 'ask';
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly mimeType: string | undefined;
}

/** A set of resources whose URIs match one template. */
export interface AgentResourceTemplate extends Omit<AgentResource, 'uri'> {
  /** RFC 6570. */
  readonly uriTemplate: string;
}

/** A prompt the agent can get. */
export interface AgentPrompt {
  /** The name the agent sees and passes to `getPrompt`. */
  readonly name: string;
  readonly server: string;
  /** The server's own name for it. */
  readonly prompt: string;
  readonly decision: 'allow' | 'ask';
  readonly description: string | undefined;
  readonly arguments: readonly PromptArgument[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description: string | undefined;
  readonly required: boolean;
}

export interface ReadResult {
  readonly contents: readonly ResourceContents[];
  readonly server: string;
  readonly durationMs: number;
  /** The result exactly as the server sent it, as JSON text. */
  readonly raw: string;
}

/** Text, or bytes in Base64. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly [member: string]: unknown;
}

export interface PromptResult {
  readonly description: string | undefined;
  readonly messages: readonly PromptMessage[];
  readonly server: string;
  readonly durationMs: number;
  /** The result exactly as the server sent it, as JSON text. */
  readonly raw: string;
}

export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ReceivedContent;
}

/** The owner of the argument: a prompt by its name, or a template or resource by its URI. */
export type CompletionRef = { readonly prompt: string } | { readonly resource: string };

export interface CompletionArgument {
  readonly name: string;
  /** The text typed so far. */
  readonly value: string;
}

export interface CompletionResult {
  readonly values: readonly string[];
  /** The number of matches, if the server sent it. */
  readonly total: number | undefined;
  readonly hasMore: boolean;
}

export function toAgentResource(listed: Listed): AgentResource {
  return { uri: listed.name, ...describe(listed) };
}

export function toAgentTemplate(listed: Listed): AgentResourceTemplate {
  return { uriTemplate: listed.name, ...describe(listed) };
}

export function toAgentPrompt(listed: Listed): AgentPrompt {
  const { description, arguments: given } = definitionOf(listed);
  const { server, own, name } = listed;
  return {
    name,
    server,
    prompt: own,
    decision: decisionOf(listed),
    description: textOf(description),
    arguments: (Array.isArray(given) ? given.filter(isJsonObject) : []).map((argument) => ({
      name: textOf(argument.name) ?? '',
      description: textOf(argument.description),
      required: argument.required === true,
    })),
  };
}

export function toReadResult({ answer: { result }, target, durationMs }: OperationAnswer): ReadResult {
  const { contents } = result.value;
  const server = target?.server ?? '';
  return { contents: Array.isArray(contents) ? contents : [], server, durationMs, raw: result.text };
}

export function toPromptResult({ answer: { result }, target, durationMs }: OperationAnswer): PromptResult {
  const { description, messages } = result.value;
  return {
    description: textOf(description),
    messages: Array.isArray(messages) ? messages.filter(isJsonObject).map(toPromptMessage) : [],
    server: target?.server ?? '',
    durationMs,
    raw: result.text,
  };
}

export function toCompletionResult({ answer: { result } }: OperationAnswer): CompletionResult {
  const { completion } = result.value;
  const { values, total, hasMore } = isJsonObject(completion) ? completion : {};
  return {
    values: Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [],
    total: typeof total === 'number' ? total : undefined,
    hasMore: hasMore === true,
  };
}

function toPromptMessage({ role, content }: Record<string, unknown>): PromptMessage {
  return { role: role === 'assistant' ? role : 'user', content: receivedContent(content) };
}

function describe(listed: Listed): Omit<AgentResource, 'uri'> {
  const { name, description, mimeType } = definitionOf(listed);
  return {
    server: listed.server,
    decision: decisionOf(listed),
    name: textOf(name),
    description: textOf(description),
    mimeType: textOf(mimeType),
  };
}

function definitionOf({ text }: Listed): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>; // written by the catalog as a JSON object
}

/** A list contains no denied entries. */
function decisionOf({ decision }: Listed): 'allow' | 'ask' {
  return decision.effect === 'ask' ? 'ask' : 'allow';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
