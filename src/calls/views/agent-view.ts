import type { WorkBudget } from '../../base/index.ts';
import type { Decision, Naming } from '../../domain/index.ts';
import type { AgentPolicy } from '../../governance/index.ts';
import { ledgerSubject } from '../../ledger/index.ts';
import type { UpstreamControl } from '../../upstream/index.ts';
import { statusToolText } from '../availability/status-tool.ts';
import type { ToolReference } from '../call.ts';
import { decisionFacts, methods, type Target } from '../target.ts';
import type { CatalogIndex, EntryPlace, OrderedEntry } from './catalog-index.ts';
import { findDeniedTool, findUnaccepted } from './find-denied-tool.ts';
import { serversNamed, toReference } from './naming/subject-text.ts';
import type { ReadKind } from './read-target.ts';
import type { ServerCatalog } from './server-catalog.ts';
import { ServerDecisions } from './server-decisions.ts';
import type { SharedTool } from './server-tools.ts';
import { entryIn } from './shared-list.ts';
import type { ListClient, ListedKind, View, ViewEntry, ViewSource, VisibleTools } from './view.ts';
import { type Listed, ViewResources } from './view-resources.ts';

export interface AgentViewFacts {
  readonly source: ViewSource;
  readonly policy: AgentPolicy;
  readonly chain: readonly string[];
  readonly index: CatalogIndex;
  readonly intern: (decision: Decision) => Decision;
}

/** How many entries are cached, so that calling a tool again costs one look-up. */
const mostEntries = 256;

/** Looking at a decided entry costs about this part of a decision. */
const entriesPerDecision = 32;

export class AgentView implements View {
  readonly chain: readonly string[];
  readonly naming: Naming;
  readonly undiscovered: readonly UpstreamControl[];
  readonly untrusted: readonly string[];
  readonly tasks: boolean;
  readonly #facts: AgentViewFacts;
  #index: CatalogIndex;
  /** Visible servers. */
  readonly #decisions: ReadonlyMap<string, ServerDecisions>;
  /** Visible servers whose tools are listed. */
  readonly #listed: readonly ServerDecisions[];
  readonly #entries = new Map<string, ViewEntry>();
  readonly #resources: ViewResources;
  #visibleTools: VisibleTools | undefined;
  #mayLog: boolean | undefined;

  /** `earlier` is a view of the same agent under the same configuration. */
  constructor(facts: AgentViewFacts, earlier?: AgentView) {
    const { source, policy, chain, index } = facts;
    this.chain = chain;
    this.naming = source.configuration.naming;
    this.#facts = facts;
    this.#index = index;
    const seen = [...index.servers.values()].filter(({ server }) => policy.seesServer(server));
    const known = earlier === undefined ? undefined : earlier.#decisions;
    this.#decisions = new Map(
      seen.map((catalog) => [catalog.server, decisionsOf(facts, catalog, known?.get(catalog.server))]),
    );
    this.#listed = [...this.#decisions.values()].filter(({ catalog }) => catalog.isListed);
    this.undiscovered = seen.filter(({ isListed }) => !isListed).map(({ handles }) => handles.control);
    this.untrusted = untrustedFor(facts);
    this.tasks = seen.some(({ catalog }) => catalog?.abilities.tasks === true);
    this.#resources = new ViewResources(
      { source, policy, chain, decisions: this.#decisions },
      earlier === undefined ? undefined : earlier.#resources,
    );
  }

  /** Made outside of the constructor: a function that is made there keeps the earlier view, and that one its own. */
  get entries(): VisibleTools {
    this.#visibleTools ??= createVisibleTools(this, () => this.#visible());
    return this.#visibleTools;
  }

  /** Whether nothing changed that the agent sees. Other servers matter only for the record of refused calls. */
  keepFor(index: CatalogIndex): boolean {
    const { policy } = this.#facts;
    for (const [server, catalog] of index.servers) {
      if (this.#decisions.get(server)?.catalog !== catalog && policy.seesServer(server)) return false;
    }
    for (const server of this.#decisions.keys()) if (!index.servers.has(server)) return false;
    this.#index = index;
    return true;
  }

  findTool(name: string): ViewEntry | undefined {
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    const place = this.#index.find('tool', name);
    if (place === undefined || !place.server.isListed) return undefined;
    const entry = this.#entryAt(place);
    if (entry !== undefined && entry.decision.effect !== 'deny') this.#keep(entry);
    return entry;
  }

  toolOf(server: string, tool: string): ViewEntry | undefined {
    const decisions = this.#decisions.get(server);
    const index = decisions?.catalog.tools.places.get(tool);
    if (decisions === undefined || index === undefined || !decisions.catalog.isListed) return undefined;
    return decisions.tools.isVisible(index) ? this.#entryAt({ server: decisions.catalog, index }) : undefined;
  }

  toolOrDenied(server: string, tool: string): ViewEntry | undefined {
    const catalog = this.#index.servers.get(server);
    const index = catalog?.tools.places.get(tool);
    return catalog?.isListed === true && index !== undefined ? this.#entryAt({ server: catalog, index }) : undefined;
  }

  appTool(server: string, tool: string): ViewEntry | undefined {
    const catalog = this.#decisions.get(server)?.catalog;
    const index = catalog?.tools.places.get(tool);
    if (catalog === undefined || index === undefined || !catalog.isListed) return undefined;
    return catalog.tools.entries[index]?.visibility.app === true
      ? this.#entryAt({ server: catalog, index })
      : undefined;
  }

  ownedUri(server: string, uri: string): string {
    return this.#facts.source.resourceNames.ownedBy(server, uri);
  }

  toolBySubject(subject: string): ViewEntry | undefined {
    for (const server of serversNamed(subject, this.#decisions.keys())) {
      const entry = this.toolOf(server, subject.slice(server.length + 1));
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  promptName(subject: string): string | undefined {
    for (const server of serversNamed(subject, this.#decisions.keys())) {
      const prompts = this.#decisions.get(server)?.catalog.resources.lists.prompt;
      const prompt = entryIn(prompts, subject.slice(server.length + 1));
      if (prompt !== undefined) return prompt.name;
    }
    return undefined;
  }

  namesServer(subject: string): boolean {
    return serversNamed(subject, this.#index.servers.keys()).length > 0;
  }

  deniedTool(tool: ToolReference | string): Target | undefined {
    const reference =
      typeof tool === 'string'
        ? (toReference(tool, this.#index.servers.keys()) ?? findUnaccepted(this.#index, tool))
        : tool;
    return reference && findDeniedTool(this.#facts, this.#index, reference, (place) => this.#entryAt(place));
  }

  find(kind: ReadKind, name: string): Target | undefined {
    return this.#resources.find(this.#index, kind, name);
  }

  findDenied(kind: ReadKind, name: string): Target | undefined {
    return this.#resources.findDenied(this.#index, kind, name);
  }

  canRead(server: string, uri: string, budget?: WorkBudget): boolean {
    return this.#resources.canRead(server, uri, budget);
  }

  listed(kind: ListedKind): readonly Listed[] {
    return this.#resources.listed(this.#index, kind);
  }

  get toolsText(): string {
    return this.toolsTextFor({ era: 'modern', showsUi: true });
  }

  toolsTextFor({ era, showsUi }: ListClient): string {
    const texts: string[] = [];
    for (const { list, index, entry } of this.#inOrder()) {
      if (this.#listed[list]?.tools.isVisible(index) !== true || !(showsUi || entry.visibility.model)) continue;
      texts.push(era === 'legacy' ? entry.legacyText : entry.text);
    }
    if (isIncomplete(this)) texts.push(statusToolText);
    return `[${texts.join(',')}]`;
  }

  get promptsText(): string {
    return this.#resources.textOf(this.#index, 'prompt');
  }

  get resourcesText(): string {
    return this.#resources.textOf(this.#index, 'resource');
  }

  get templatesText(): string {
    return this.#resources.textOf(this.#index, 'template');
  }

  digestOf(list: 'tool' | ListedKind): string {
    if (list !== 'tool') return this.#resources.digestOf(list);
    // A new server without a visible tool changes nothing, and must not be noticed.
    const shown = this.#listed.filter(({ tools }) => tools.digest !== '');
    const ownTool = isIncomplete(this) ? '+' : '';
    return `${ownTool}${shown.map(({ tools, catalog }) => `${catalog.server}\0${tools.digest}`).sort()}`;
  }

  *deciding(list: 'tool' | ListedKind): Generator<number> {
    for (const decisions of this.#listed) {
      const decided = list === 'tool' ? decisions.tools : decisions.on(list);
      yield decided.list.entries.length / entriesPerDecision;
      yield* decided.deciding();
    }
  }

  get mayLog(): boolean {
    this.#mayLog ??= this.#listed.some(
      ({ catalog, tools }) =>
        catalog.catalog?.abilities.logging === true && catalog.tools.entries.some((_, index) => tools.isVisible(index)),
    );
    return this.#mayLog;
  }

  ownerOfMissing(name: string): UpstreamControl | undefined {
    const place = this.#index.find('tool', name);
    if (place === undefined || place.server.isListed) return undefined;
    const { server, handles } = place.server;
    return this.#decisions.get(server)?.tools.isVisible(place.index) === true ? handles.control : undefined;
  }

  ownerOfMissingRead(kind: ReadKind, name: string): UpstreamControl | undefined {
    return this.undiscovered.length === 0 ? undefined : this.#resources.ownerOfMissing(this.#index, kind, name);
  }

  contenderFor(tool: string): UpstreamControl | undefined {
    if (this.naming !== 'preserved' || this.undiscovered.length === 0) return undefined;
    const later = this.#listed.find(({ catalog: { tools }, tools: decisions }) => {
      const index = tools.places.get(tool);
      return index !== undefined && decisions.isVisible(index);
    });
    return later && this.unknownBefore(later.catalog.server)[0];
  }

  unknownBefore(server: string): readonly UpstreamControl[] {
    const unknown: UpstreamControl[] = [];
    if (this.undiscovered.length === 0) return unknown;
    for (const [earlier, { catalog }] of this.#decisions) {
      if (earlier === server) break;
      if (catalog.catalog === undefined) unknown.push(catalog.handles.control);
    }
    return unknown;
  }

  *#visible(): Iterable<ViewEntry> {
    for (const { list, index } of this.#inOrder()) {
      const decisions = this.#listed[list];
      if (decisions?.tools.isVisible(index) !== true) continue;
      const entry = this.#entryAt({ server: decisions.catalog, index });
      if (entry !== undefined) yield entry;
    }
  }

  #inOrder(): readonly OrderedEntry<SharedTool>[] {
    return this.#index.inOrder(this.#listed.map(({ catalog }) => catalog.tools));
  }

  #entryAt({ server: catalog, index }: EntryPlace): ViewEntry | undefined {
    const shared = catalog.tools.entries[index];
    if (shared === undefined) return undefined;
    const { policy, chain, source } = this.#facts;
    const { server } = catalog;
    const { tool, name } = shared;
    // A server that the agent does not see is always denied. The decision is made for the record.
    const decision = this.#decisions.get(server)?.tools.at(index) ?? policy.decide(server, tool.name, name, tool.hints);
    return toEntry({ catalog, shared, decision, chain, source });
  }

  #keep(entry: ViewEntry): void {
    if (this.#entries.size >= mostEntries) {
      const [oldest = ''] = this.#entries.keys();
      this.#entries.delete(oldest);
    }
    this.#entries.set(entry.name, entry);
  }
}

/** Whether the agent's list lacks tools of a server. */
function isIncomplete({ undiscovered, untrusted }: Pick<View, 'undiscovered' | 'untrusted'>): boolean {
  return undiscovered.length > 0 || untrusted.length > 0;
}

function decisionsOf(
  facts: AgentViewFacts,
  catalog: ServerCatalog,
  known: ServerDecisions | undefined,
): ServerDecisions {
  return known?.catalog === catalog ? known : new ServerDecisions(facts, catalog, known);
}

function createVisibleTools(view: Pick<View, 'findTool'>, visible: () => Iterable<ViewEntry>): VisibleTools {
  const get = (name: string): ViewEntry | undefined => {
    const entry = view.findTool(name);
    return entry?.decision.effect === 'deny' ? undefined : entry;
  };
  return {
    get,
    has: (name) => get(name) !== undefined,
    get size() {
      return [...visible()].length;
    },
    keys: () => [...visible()].map(({ name }) => name).values(),
    values: () => [...visible()].values(),
    [Symbol.iterator]: () => [...visible()].map((entry): [string, ViewEntry] => [entry.name, entry]).values(),
  };
}

interface EntryFacts {
  readonly catalog: ServerCatalog;
  readonly shared: SharedTool;
  readonly decision: Decision;
  readonly chain: readonly string[];
  readonly source: ViewSource;
}

function toEntry({ catalog, shared, decision, chain, source }: EntryFacts): ViewEntry {
  const { tool, name } = shared;
  const { server, handles } = catalog;
  return {
    kind: 'tool',
    name,
    server,
    subjectName: tool.name,
    tool,
    decision,
    dispatch: handles.dispatch,
    control: handles.control,
    subject: ledgerSubject({ agent: chain[0] ?? '', chain, server, tool: tool.name, ...decisionFacts(decision) }),
    method: methods.tool,
    ownName: tool.name,
    callHead: `"name":${JSON.stringify(tool.name)},"arguments":`,
    carries: 'arguments',
    mirrored: tool.mirrored,
    safeToRepeat: tool.safeToRepeat,
    tasks: catalog.catalog?.abilities.tasks === true,
    cacheUse: source.caches.of(server)?.forTool(tool),
  };
}

function untrustedFor({ source, policy }: AgentViewFacts): readonly string[] {
  const { servers } = source.configuration;
  return [...servers].flatMap(([name, server]) =>
    server.kind === 'untrusted' && !server.declined && policy.seesServer(name) ? [name] : [],
  );
}
