import type { ToolDefinition } from './tool.ts';

/** One resource as its server describes it. */
export interface ResourceDefinition {
  readonly uri: string;
  /** The definition as JSON text, its `uri` first. */
  readonly text: string;
}

/** A family of resources whose URIs have a common form. */
export interface TemplateDefinition {
  readonly uriTemplate: string;
  /** The definition as JSON text, its `uriTemplate` first. */
  readonly text: string;
}

export interface PromptDefinition {
  readonly name: string;
  /** The definition as JSON text, its `name` first. */
  readonly text: string;
}

/** What one server offers besides tools, and how much it can do with it. */
export interface Abilities {
  readonly resources: boolean;
  /** It tells when a resource changes, to whoever asked for that. */
  readonly subscriptions: boolean;
  readonly prompts: boolean;
  readonly completions: boolean;
  readonly logging: boolean;
  /** Calls of its tools may become tasks. */
  readonly tasks: boolean;
}

/** What one server offers at one time. */
export interface Catalog {
  readonly tools: readonly ToolDefinition[];
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly TemplateDefinition[];
  readonly prompts: readonly PromptDefinition[];
  readonly abilities: Abilities;
  /** Wall clock, milliseconds. */
  readonly at: number;
  readonly warnings: readonly string[];
}

/** Of a server that offers nothing but tools. */
export function onlyTools(tools: readonly ToolDefinition[], at: number): Catalog {
  return { tools, resources: [], templates: [], prompts: [], abilities: noAbilities, at, warnings: [] };
}

const noAbilities: Abilities = {
  resources: false,
  subscriptions: false,
  prompts: false,
  completions: false,
  logging: false,
  tasks: false,
};
