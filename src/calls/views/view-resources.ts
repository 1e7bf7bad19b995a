import type { WorkBudget } from '../../base/index.ts';
import type { Decision } from '../../domain/index.ts';
import type { AgentPolicy } from '../../governance/index.ts';
import type { UpstreamControl } from '../../upstream/index.ts';
import type { Target } from '../target.ts';
import type { CatalogIndex } from './catalog-index.ts';
import { dependsOnList } from './list-decisions.ts';
import { locateRead, type ReadSearch } from './locate-read.ts';
import { type ReadKind, type ReadPlace, readTarget } from './read-target.ts';
import type { ServerCatalog } from './server-catalog.ts';
import type { ServerDecisions } from './server-decisions.ts';
import type { SharedDefinition } from './server-resources.ts';
import type { ListedKind, ViewSource } from './view.ts';

/** A listed resource, template or prompt. */
export interface Listed {
  /** The exposed name, URI or template. */
  readonly name: string;
  readonly server: string;
  /** The server's own one. */
  readonly own: string;
  readonly decision: Decision;
  /** The exposed definition, as JSON text. */
  readonly text: string;
}

export interface ViewResourcesFacts {
  readonly source: Pick<ViewSource, 'caches' | 'resourceNames'>;
  readonly policy: AgentPolicy;
  readonly chain: readonly string[];
  /** Of the servers that the agent sees, in the order of the configuration. */
  readonly decisions: ReadonlyMap<string, ServerDecisions>;
}

/** How many targets of a kind are cached; reading the same again then costs one look-up. */
const mostTargets = 256;

/** The resources, templates and prompts of one agent. Nothing is decided before somebody asks. */
export class ViewResources {
  readonly #facts: ViewResourcesFacts;
  readonly #targets: Readonly<Record<ReadKind, Map<string, Target>>>;

  /** `earlier` is of the same agent under the same configuration. */
  constructor(facts: ViewResourcesFacts, earlier?: ViewResources) {
    this.#facts = facts;
    const isSame = earlier !== undefined && isSameResources(earlier.#facts.decisions, facts.decisions);
    this.#targets = isSame ? earlier.#targets : noTargets();
  }

  /** By the agent's name or URI. Undefined if the agent does not have it. */
  find(index: CatalogIndex, kind: ReadKind, name: string): Target | undefined {
    const known = this.#targets[kind].get(name);
    if (known !== undefined) return known;
    const place = locateRead(this.#search(index, this.#seen(), this.#readable), kind, name);
    if (place?.found.server.isListed !== true || !isAble(place, kind)) return undefined;
    const target = readTarget(this.#facts.source.caches, this.#facts.chain, place, { kind, name });
    this.#keep(kind, target);
    return target;
  }

  /** A denied one that the agent asked for. */
  findDenied(index: CatalogIndex, kind: ReadKind, name: string): Target | undefined {
    const all = [...index.servers.values()].filter(({ isListed }) => isListed);
    // The agent's own servers come first, as they do for its reads.
    const place =
      locateRead(this.#search(index, this.#seen(), undecided), kind, name) ??
      locateRead(this.#search(index, all, undecided), kind, name);
    if (place === undefined) return undefined;
    const decision = this.#decisionOn(place);
    if (decision.effect !== 'deny') return undefined;
    const { source, chain } = this.#facts;
    return readTarget(source.caches, chain, { ...place, found: { ...place.found, decision } }, { kind, name });
  }

  /** The unavailable server that has it. */
  ownerOfMissing(index: CatalogIndex, kind: ReadKind, name: string): UpstreamControl | undefined {
    const owner = locateRead(this.#search(index, this.#seen(), this.#readable), kind, name)?.found.server;
    return owner?.isListed === false ? owner.handles.control : undefined;
  }

  /** Whether the agent may read the server's URI. Denied if the decision exceeds the budget. */
  canRead(server: string, uri: string, budget?: WorkBudget): boolean {
    const decisions = this.#facts.decisions.get(server);
    if (decisions?.catalog.catalog === undefined) return false;
    return decisions.access.decide(`resource:${uri}`, budget).effect !== 'deny';
  }

  /** The visible entries in alphabetical order. */
  listed(index: CatalogIndex, kind: ListedKind): readonly Listed[] {
    const listed: Listed[] = [];
    this.#eachVisible(index, kind, ({ name, own, text }, server, decision) => {
      listed.push({ name, server, own, decision, text });
    });
    return listed;
  }

  /** The JSON array of a list, assembled each time. */
  textOf(index: CatalogIndex, kind: ListedKind): string {
    const texts: string[] = [];
    this.#eachVisible(index, kind, ({ text }) => texts.push(text));
    return `[${texts.join(',')}]`;
  }

  /** A digest of the visible list. Hidden entries do not affect it. */
  digestOf(kind: ListedKind): string {
    return this.#shown()
      .map((decisions) => ({ server: decisions.catalog.server, digest: decisions.on(kind).digest }))
      .filter(({ digest }) => digest !== '')
      .map(({ server, digest }) => `${server}\0${digest}`)
      .sort()
      .join();
  }

  #eachVisible(index: CatalogIndex, kind: ListedKind, use: UseDefinition): void {
    const shown = this.#shown();
    const lists = shown.map(({ catalog }) => catalog.resources.lists[kind]);
    const decided = shown.map((decisions) => decisions.on(kind));
    for (const { list, index: at, entry } of index.inOrder(lists)) {
      const decision = decided[list]?.at(at);
      if (decision !== undefined && decision.effect !== 'deny') use(entry, lists[list]?.server ?? '', decision);
    }
  }

  #shown(): readonly ServerDecisions[] {
    return [...this.#facts.decisions.values()].filter(({ catalog }) => catalog.isListed);
  }

  #seen(): readonly ServerCatalog[] {
    return [...this.#facts.decisions.values()].map(({ catalog }) => catalog);
  }

  #search(index: CatalogIndex, servers: readonly ServerCatalog[], readable: ReadSearch['readable']): ReadSearch {
    return { index, servers, readable, names: this.#facts.source.resourceNames };
  }

  readonly #readable: ReadSearch['readable'] = (server, subject, own) => {
    const decision = this.#decided(server.server, subject, own);
    return decision === undefined || decision.effect === 'deny' ? undefined : { server, own, decision };
  };

  #decisionOn({ found, subject }: ReadPlace): Decision {
    const { server } = found.server;
    const decided = this.#decided(server, subject, found.own);
    return decided ?? this.#facts.policy.decideRead(server, `${subject}:${found.own}`, undefined);
  }

  /** Undefined if the agent does not see the server. */
  #decided(server: string, subject: ReadPlace['subject'], own: string): Decision | undefined {
    const decisions = this.#facts.decisions.get(server);
    if (decisions === undefined) return undefined;
    const list = decisions.on(subject);
    const known = list.decided(list.list.places.get(own) ?? -1);
    // A list denies what it has no work left for, although it can be read.
    return known === undefined || dependsOnList(known) ? decisions.access.decide(`${subject}:${own}`) : known;
  }

  #keep(kind: ReadKind, target: Target): void {
    const targets = this.#targets[kind];
    for (const oldest of targets.keys()) {
      if (targets.size < mostTargets) break;
      targets.delete(oldest);
    }
    targets.set(target.name, target);
  }
}

type UseDefinition = (entry: SharedDefinition, server: string, decision: Decision) => void;

/** Denies nothing. Used to find the owner before access is decided. */
const undecided: ReadSearch['readable'] = (server, _subject, own) => ({ server, own, decision: unrestricted });

const unrestricted: Decision = { effect: 'allow', reason: { kind: 'default' } };

function isAble({ found }: ReadPlace, kind: ReadKind): boolean {
  const { abilities } = found.server.resources.catalog;
  if (kind === 'subscription') return abilities.subscriptions;
  return kind !== 'completion' || abilities.completions;
}

/** Whether the agent has the same resources and prompts, under the same names. */
function isSameResources(
  earlier: ReadonlyMap<string, ServerDecisions>,
  now: ReadonlyMap<string, ServerDecisions>,
): boolean {
  if (earlier.size !== now.size) return false;
  for (const [server, { catalog }] of now) {
    const before = earlier.get(server)?.catalog;
    if (before?.resources !== catalog.resources || before.isListed !== catalog.isListed) return false;
  }
  return true;
}

function noTargets(): Readonly<Record<ReadKind, Map<string, Target>>> {
  return { resource: new Map(), subscription: new Map(), prompt: new Map(), completion: new Map() };
}
