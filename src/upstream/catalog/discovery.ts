import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  Catalog,
  PromptDefinition,
  ResourceDefinition,
  TemplateDefinition,
  ToolDefinition,
  TransportKind,
} from '../../domain/index.ts';
import type { Agreement } from '../connecting/handshake.ts';
import type { FailedReply, Transport } from '../transport.ts';
import { BoundedWarnings } from './bounded-warnings.ts';
import { readPrompt, readResource, readTemplate, readTool } from './definitions.ts';
import { type Pages, type PagesOptions, readPages } from './pages.ts';
import { parseListed } from './parse-listed.ts';

export type DiscoveryOutcome =
  | {
      readonly kind: 'found';
      readonly catalog: Catalog;
      /** When to list again without an announcement. */
      readonly askAgainMs: number | undefined;
    }
  | { readonly kind: 'failed'; readonly reason: string; readonly failure: FailedReply | undefined };

export interface DiscoveryOptions extends Omit<PagesOptions, 'maxLength'> {
  readonly now: number;
  /** The last known catalog. A list that cannot be read keeps its last entries. */
  readonly before: Catalog | undefined;
}

/** The wait after a failed list. */
export const relistMs = 60_000;

/** Reads all lists that the server has, concurrently. Fails if the tools cannot be read. */
export async function discover(
  transport: Transport,
  { hasTools, abilities, announces }: Pick<Agreement, 'hasTools' | 'abilities' | 'announces'>,
  options: DiscoveryOptions,
): Promise<DiscoveryOutcome> {
  const read = (has: boolean, { method, member, maxItems, maxLength }: ListName): Promise<Pages> =>
    has ? readPages(transport, method, member, { ...options, maxItems, maxLength }) : Promise.resolve(nothing);
  const toolList = toolsOver(transport.kind, options.before?.tools ?? []);
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
    tools: await collect(toolList, tools, [], warnings),
    resources: await collect(resourceList, resources, before?.resources, warnings),
    templates: await collect(templateList, templates, before?.templates, warnings),
    prompts: await collect(promptList, prompts, before?.prompts, warnings),
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
  /** In characters. Together 8 MB. */
  readonly maxLength: number;
}

const kilo = 1024;

interface ListKind<T> extends ListName {
  /** Parses one entry and returns its name. */
  readonly noun: string;
  /** The limit for the characters of all names together. */
  readonly maxCharacters?: number;
  idOf(entry: T): string;
  /** The entry is left out, for the reason in the warning. */
  read(item: unknown): { readonly entry?: T | undefined; readonly warning?: string | undefined };
}

function toolsOver(transport: TransportKind, before: readonly ToolDefinition[]): ListKind<ToolDefinition> {
  const earlier = new Map(before.map((tool) => [tool.name, tool]));
  return {
    method: 'tools/list',
    member: 'tools',
    maxLength: 5 * kilo * kilo,
    noun: 'tool',
    idOf: ({ name }) => name,
    read(item) {
      const reading = readTool(item, earlier);
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
  maxLength: 2 * kilo * kilo,
  noun: 'resource',
  idOf: ({ uri }) => uri,
  read: (item) => orWarning(readResource(item), 'a resource without a usable uri was left out'),
};

const templateList: ListKind<TemplateDefinition> = {
  method: 'resources/templates/list',
  // Each template is compared with every URI that is in no list.
  maxItems: 256,
  maxCharacters: 64 * 1024,
  member: 'resourceTemplates',
  maxLength: 512 * kilo,
  noun: 'resource template',
  idOf: ({ uriTemplate }) => uriTemplate,
  read: (item) => orWarning(readTemplate(item), 'a resource template without a usable uriTemplate was left out'),
};

const promptList: ListKind<PromptDefinition> = {
  method: 'prompts/list',
  member: 'prompts',
  maxLength: 512 * kilo,
  noun: 'prompt',
  idOf: ({ name }) => name,
  read: (item) => orWarning(readPrompt(item), 'a prompt without a usable name was left out'),
};

function orWarning<T>(entry: T | undefined, warning: string): { entry?: T; warning?: string } {
  return entry === undefined ? { warning } : { entry };
}

async function collect<T>(
  list: ListKind<T>,
  pages: Pages,
  before: readonly T[] = [],
  warnings: BoundedWarnings,
): Promise<readonly T[]> {
  if (pages.kind === 'failed') {
    warnings.add(`${list.method} failed: ${pages.reason}`);
    return pages.unknown ? [] : before;
  }
  const found = new Map<string, T>();
  let charactersLeft = list.maxCharacters ?? Number.POSITIVE_INFINITY;
  let read = 0;
  for (const item of pages.items) {
    read += item.length;
    if (read > maxReadPerTurn) {
      read = 0;
      await nextTurn();
    }
    const parsed = parseListed(list.noun, item);
    const { entry, warning } = parsed.kind === 'bad' ? { warning: parsed.reason } : list.read(parsed.item);
    if (warning !== undefined) warnings.add(warning);
    if (entry === undefined) continue;
    const id = list.idOf(entry);
    if (found.has(id)) {
      warnings.add(`${list.noun} "${id}" is listed twice; the first one counts`);
      continue;
    }
    charactersLeft -= id.length;
    if (charactersLeft < 0) {
      warnings.add(
        `${list.method} has over ${list.maxCharacters} characters of ${list.noun}s; ${found.size} were taken`,
      );
      break;
    }
    found.set(id, entry);
  }
  if (pages.cut) warnings.add(`${list.method} did not end; ${found.size} entries were taken`);
  return [...found.values()];
}

/** Characters of definitions. Other servers and agents take turns with a long list. */
const maxReadPerTurn = 256 * kilo;

/** Bounds for the lifetime that servers give their lists. */
const minTtlMs = 10_000;
const maxTtlMs = 3_600_000;

/** Missing lists are not read again, and lists whose changes are announced need not be. */
function waitFor(pages: Pages, announced: boolean): number {
  if (pages.kind === 'failed') return pages.unknown ? Number.POSITIVE_INFINITY : relistMs;
  if (announced || pages.ttlMs === 0) return Number.POSITIVE_INFINITY;
  return Math.min(Math.max(pages.ttlMs, minTtlMs), maxTtlMs);
}
