import type {
  Catalog,
  PromptDefinition,
  ResourceDefinition,
  TemplateDefinition,
  ToolDefinition,
  TransportKind,
} from '../domain/index.ts';
import { BoundedWarnings } from './bounded-warnings.ts';
import { readPrompt, readResource, readTemplate, readTool } from './definitions.ts';
import type { Agreement } from './handshake.ts';
import { type Pages, type PagesOptions, readPages } from './pages.ts';
import type { Wire, WireFailure } from './wire.ts';

export type DiscoveryOutcome =
  | {
      readonly kind: 'found';
      readonly catalog: Catalog;
      /** When to ask again though nothing was announced. */
      readonly askAgainMs: number | undefined;
    }
  | { readonly kind: 'failed'; readonly reason: string; readonly failure: WireFailure | undefined };

export interface DiscoveryOptions extends PagesOptions {
  readonly now: number;
  /** What was known so far: a list that cannot be had now stays as it was. */
  readonly before: Catalog | undefined;
}

/** A server that could not give a list is asked again after this. */
export const relistMs = 60_000;

/** Everything that a server says it has, list beside list. Without its tools it counts as not found. */
export async function discover(
  wire: Wire,
  { hasTools, abilities, announces }: Pick<Agreement, 'hasTools' | 'abilities' | 'announces'>,
  options: DiscoveryOptions,
): Promise<DiscoveryOutcome> {
  const read = (has: boolean, { method, member, maxItems }: ListName): Promise<Pages> =>
    has ? readPages(wire, method, member, { ...options, maxItems }) : Promise.resolve(nothing);
  const toolList = toolsOver(wire.transport);
  const [tools, resources, templates, prompts] = await Promise.all([
    read(hasTools, toolList),
    read(abilities.resources, resourceList),
    read(abilities.resources, templateList),
    read(abilities.prompts, promptList),
  ]);
  if (tools.kind === 'failed') return { kind: 'failed', reason: tools.reason, failure: tools.failure };
  const { before, now } = options;
  const warnings = new BoundedWarnings();
  const lists = {
    tools: collect(toolList, tools, [], warnings),
    resources: collect(resourceList, resources, before?.resources, warnings),
    templates: collect(templateList, templates, before?.templates, warnings),
    prompts: collect(promptList, prompts, before?.prompts, warnings),
  };
  const catalog: Catalog = { ...lists, abilities, at: now, warnings: warnings.all() };
  const waits = [
    waitFor(tools, announces.tools),
    waitFor(resources, announces.resources),
    waitFor(templates, announces.resources),
    waitFor(prompts, announces.prompts),
  ];
  const soonest = Math.min(...waits);
  return { kind: 'found', catalog, askAgainMs: soonest === Number.POSITIVE_INFINITY ? undefined : soonest };
}

const nothing: Pages = { kind: 'read', items: [], cut: false, ttlMs: 0 };

interface ListName {
  readonly method: string;
  readonly member: string;
  readonly maxItems?: number;
}

interface ListKind<T> extends ListName {
  /** What one entry is, and by what it is called. */
  readonly noun: string;
  idOf(entry: T): string;
  /** No entry: it is left out, and the warning says why. */
  read(item: unknown): { readonly entry?: T | undefined; readonly warning?: string | undefined };
}

function toolsOver(transport: TransportKind): ListKind<ToolDefinition> {
  return {
    method: 'tools/list',
    member: 'tools',
    noun: 'tool',
    idOf: ({ name }) => name,
    read(item) {
      const reading = readTool(item);
      if (reading.kind === 'bad') return { warning: reading.reason };
      const { tool, warning, overHttpOnly } = reading;
      if (!overHttpOnly) return { entry: tool, warning };
      return transport === 'http' ? { warning } : { entry: tool };
    },
  };
}

const resourceList: ListKind<ResourceDefinition> = {
  method: 'resources/list',
  member: 'resources',
  noun: 'resource',
  idOf: ({ uri }) => uri,
  read: (item) => orWarning(readResource(item), 'a resource without a usable uri was left out'),
};

const templateList: ListKind<TemplateDefinition> = {
  method: 'resources/templates/list',
  // Each is compared with every URI that is in no list.
  maxItems: 256,
  member: 'resourceTemplates',
  noun: 'resource template',
  idOf: ({ uriTemplate }) => uriTemplate,
  read: (item) => orWarning(readTemplate(item), 'a resource template without a usable uriTemplate was left out'),
};

const promptList: ListKind<PromptDefinition> = {
  method: 'prompts/list',
  member: 'prompts',
  noun: 'prompt',
  idOf: ({ name }) => name,
  read: (item) => orWarning(readPrompt(item), 'a prompt without a usable name was left out'),
};

function orWarning<T>(entry: T | undefined, warning: string): { entry?: T; warning?: string } {
  return entry === undefined ? { warning } : { entry };
}

function collect<T>(
  list: ListKind<T>,
  pages: Pages,
  before: readonly T[] = [],
  warnings: BoundedWarnings,
): readonly T[] {
  if (pages.kind === 'failed') {
    warnings.add(`${list.method} failed: ${pages.reason}`);
    return pages.unknown ? [] : before;
  }
  const found = new Map<string, T>();
  for (const item of pages.items) {
    const { entry, warning } = list.read(item);
    if (warning !== undefined) warnings.add(warning);
    if (entry === undefined) continue;
    const id = list.idOf(entry);
    if (found.has(id)) warnings.add(`${list.noun} "${id}" is listed twice; the first one counts`);
    else found.set(id, entry);
  }
  if (pages.cut) warnings.add(`${list.method} did not end; ${found.size} entries were taken`);
  return [...found.values()];
}

/** Bounds for what servers say of how long a list stays as it is. */
const minTtlMs = 10_000;
const maxTtlMs = 3_600_000;

/** A list that its server does not have is not asked for again, and one whose changes are announced need not be. */
function waitFor(pages: Pages, announced: boolean): number {
  if (pages.kind === 'failed') return pages.unknown ? Number.POSITIVE_INFINITY : relistMs;
  if (announced || pages.ttlMs === 0) return Number.POSITIVE_INFINITY;
  return Math.min(Math.max(pages.ttlMs, minTtlMs), maxTtlMs);
}
