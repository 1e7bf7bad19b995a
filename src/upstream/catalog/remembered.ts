import {
  type Abilities,
  type Catalog,
  onlyTools,
  type PromptDefinition,
  type ResourceDefinition,
  type ServerLock,
  type TemplateDefinition,
  type ToolDefinition,
} from '../../domain/index.ts';
import type { Era } from '../../mcp/index.ts';
import type { FallbackOptions, Via } from '../connecting/transport-fallback.ts';
import { type AcceptedDefinitions, nextAccepted } from './accepted-definitions.ts';

/** The facts about a server that are stored between runs of the hub. */
export interface RememberedServer {
  /** The facts are valid only for this configuration of the transport. */
  readonly connectionKey: string;
  readonly era: Era;
  readonly protocolVersion: string;
  /** When the era was detected. An old result "legacy" is checked again, because servers are upgraded. */
  readonly verdictAt: number;
  /** The transport on which the era was detected. Absent: the first. */
  readonly via?: Via | undefined;
  readonly tools: readonly ToolDefinition[];
  /** Absent if an older version wrote the record. */
  readonly resources?: readonly ResourceDefinition[] | undefined;
  readonly templates?: readonly TemplateDefinition[] | undefined;
  readonly prompts?: readonly PromptDefinition[] | undefined;
  readonly abilities?: Abilities | undefined;
  readonly instructions?: string | undefined;
  /** Absent if an older version wrote the record. */
  readonly accepted?: AcceptedDefinitions | undefined;
  readonly at: number;
}

export interface ServerMemory {
  recall(server: string): RememberedServer | undefined;
  remember(server: string, remembered: RememberedServer): void;
}

/** The last known catalog. */
export function rememberedCatalog(remembered: RememberedServer | undefined): Catalog | undefined {
  if (remembered === undefined) return undefined;
  const { tools, at, resources, templates, prompts, abilities, instructions } = remembered;
  const bare = onlyTools(tools, at);
  return {
    ...bare,
    resources: resources ?? bare.resources,
    templates: templates ?? bare.templates,
    prompts: prompts ?? bare.prompts,
    abilities: abilities ?? bare.abilities,
    instructions,
  };
}

/** A newer record of the same server, with what was accepted before. */
export function rememberedAfter(
  before: RememberedServer | undefined,
  now: RememberedServer,
  lock: ServerLock | undefined,
): RememberedServer {
  const known = before?.connectionKey === now.connectionKey ? before : undefined;
  const listed = rememberedCatalog(now);
  if (listed === undefined) return now;
  const accepted = nextAccepted({ before: rememberedCatalog(known), listed, known: known?.accepted, lock });
  return { ...now, accepted };
}

const verdictLifeMs = 7 * 24 * 3600 * 1000;

/** The remembered era, if it is still valid. */
export function knownEra(remembered: RememberedServer | undefined, now: number): Era | undefined {
  if (remembered === undefined) return undefined;
  return now - remembered.verdictAt < verdictLifeMs ? remembered.era : undefined;
}

/** A transport that was used only because an earlier one was unavailable is tried first for this long. */
const standInLifeMs = 10 * 60 * 1000;

/** The expectation for the next connection attempt. */
export function expectation(remembered: RememberedServer | undefined, now: number): FallbackOptions['known'] {
  if (remembered === undefined) return undefined;
  const era = knownEra(remembered, now);
  const { place, settled } = remembered.via ?? { place: 0, settled: true };
  return { place, settled, era, first: settled ? era !== undefined : now - remembered.at < standInLifeMs };
}
