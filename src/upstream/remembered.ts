import {
  type Abilities,
  type Catalog,
  onlyTools,
  type PromptDefinition,
  type ResourceDefinition,
  type TemplateDefinition,
  type ToolDefinition,
} from '../domain/index.ts';
import type { Era } from '../mcp/index.ts';
import type { ChainOptions, Via } from './chain.ts';

/** What is kept of a server between lives of the hub. */
export interface RememberedServer {
  /** Belongs to exactly this configuration of the transport. */
  readonly connectionKey: string;
  readonly era: Era;
  readonly protocolVersion: string;
  /** When the era was found out; an old legacy verdict is asked again, for servers are upgraded. */
  readonly verdictAt: number;
  /** The transport that the above was found out over; absent: the first. */
  readonly via?: Via | undefined;
  readonly tools: readonly ToolDefinition[];
  /** Absent where this was written before they were kept. */
  readonly resources?: readonly ResourceDefinition[] | undefined;
  readonly templates?: readonly TemplateDefinition[] | undefined;
  readonly prompts?: readonly PromptDefinition[] | undefined;
  readonly abilities?: Abilities | undefined;
  readonly at: number;
}

export interface ServerMemory {
  recall(server: string): RememberedServer | undefined;
  remember(server: string, remembered: RememberedServer): void;
}

/** What it offered when it was last asked. */
export function rememberedCatalog(remembered: RememberedServer | undefined): Catalog | undefined {
  if (remembered === undefined) return undefined;
  const { tools, at, resources, templates, prompts, abilities } = remembered;
  const bare = onlyTools(tools, at);
  return {
    ...bare,
    resources: resources ?? bare.resources,
    templates: templates ?? bare.templates,
    prompts: prompts ?? bare.prompts,
    abilities: abilities ?? bare.abilities,
  };
}

const verdictLifeMs = 7 * 24 * 3600 * 1000;

/** The remembered era, if it still binds. */
export function knownEra(remembered: RememberedServer | undefined, now: number): Era | undefined {
  if (remembered === undefined) return undefined;
  return now - remembered.verdictAt < verdictLifeMs ? remembered.era : undefined;
}

/** A transport that won only because a better one was away is tried first for this long. */
const standInLifeMs = 10 * 60 * 1000;

/** What to expect of the next connect. */
export function expectation(remembered: RememberedServer | undefined, now: number): ChainOptions['known'] {
  if (remembered === undefined) return undefined;
  const era = knownEra(remembered, now);
  const { place, settled } = remembered.via ?? { place: 0, settled: true };
  return { place, settled, era, first: settled ? era !== undefined : now - remembered.at < standInLifeMs };
}
