import type { Withheld } from './definition-lock.ts';
import type { ToolDefinition } from './tool.ts';

/** A resource as its server describes it. */
export interface ResourceDefinition {
  readonly uri: string;
  /** The definition as JSON text, with `uri` first. */
  readonly text: string;
}

/** A resource template: a family of resources with a common URI pattern. */
export interface TemplateDefinition {
  readonly uriTemplate: string;
  /** The definition as JSON text, with `uriTemplate` first. */
  readonly text: string;
  readonly fingerprint: string;
}

export interface PromptDefinition {
  readonly name: string;
  /** The definition as JSON text, with `name` first. */
  readonly text: string;
  readonly fingerprint: string;
}

/** A server's capabilities besides tools. */
export interface Abilities {
  readonly resources: boolean;
  /** The server notifies subscribers when a resource changes. */
  readonly subscriptions: boolean;
  readonly prompts: boolean;
  readonly completions: boolean;
  readonly logging: boolean;
  /** Tool calls may become tasks. */
  readonly tasks: boolean;
}

/** The tools, resources and prompts of one server at one point in time. */
export interface Catalog {
  readonly tools: readonly ToolDefinition[];
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly TemplateDefinition[];
  readonly prompts: readonly PromptDefinition[];
  readonly abilities: Abilities;
  /** Wall clock, milliseconds. */
  readonly at: number;
  readonly warnings: readonly string[];
  /** What the server says about itself. Empty: nothing. Undefined: not known. */
  readonly instructions?: string | undefined;
  /** Definitions that agents do not get, because they are not the accepted ones. They are in no list. */
  readonly withheld?: Withheld | undefined;
}

/** A catalog with tools and no other capabilities. */
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
