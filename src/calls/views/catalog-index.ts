import { type NamedSource, renewServerCatalog, type ServerCatalog } from './server-catalog.ts';
import type { SharedEntry, SharedList } from './shared-list.ts';

/** The lists of all servers at one time, shared by all views. Immutable. */
export interface CatalogIndex {
  /** In the order of the configuration. */
  readonly servers: ReadonlyMap<string, ServerCatalog>;
  /** A tool, prompt or template by its exposed name. No two servers share one. */
  find(kind: NamedKind, name: string): EntryPlace | undefined;
  /** The entries of these lists in alphabetical order. `list` is the index in them. */
  inOrder<Entry extends SharedEntry>(lists: readonly SharedList<Entry>[]): readonly OrderedEntry<Entry>[];
  readonly lastRevision: number;
}

/** A URI may also be one that is in no list, so `findResource` looks for its owner. */
export type NamedKind = 'tool' | 'prompt' | 'template';

export interface EntryPlace {
  readonly server: ServerCatalog;
  readonly index: number;
}

export interface OrderedEntry<Entry extends SharedEntry> {
  readonly list: number;
  readonly index: number;
  readonly entry: Entry;
}

/** Many agents see the same servers. At most this many sets are cached. */
const mostOrders = 64;

/** Reuses the unchanged parts of the earlier index. */
export function createCatalogIndex(source: NamedSource, earlier?: CatalogIndex): CatalogIndex {
  let lastRevision = earlier?.lastRevision ?? 0;
  const nextRevision = (): number => ++lastRevision;
  const servers = new Map<string, ServerCatalog>();
  for (const [server, handles] of source.upstreams) {
    servers.set(server, renewServerCatalog({ source, handles, nextRevision }, earlier?.servers.get(server)));
  }
  return new ServerCatalogIndex(servers, lastRevision);
}

class ServerCatalogIndex implements CatalogIndex {
  readonly servers: ReadonlyMap<string, ServerCatalog>;
  readonly lastRevision: number;
  /** Made on first use. */
  readonly #places: Partial<Record<NamedKind, ReadonlyMap<string, EntryPlace>>> = {};
  readonly #orders = new Map<string, readonly OrderedEntry<SharedEntry>[]>();

  constructor(servers: ReadonlyMap<string, ServerCatalog>, lastRevision: number) {
    this.servers = servers;
    this.lastRevision = lastRevision;
  }

  find(kind: NamedKind, name: string): EntryPlace | undefined {
    this.#places[kind] ??= placesOf(kind, this.servers.values());
    return this.#places[kind].get(name);
  }

  inOrder<Entry extends SharedEntry>(lists: readonly SharedList<Entry>[]): readonly OrderedEntry<Entry>[] {
    const key = lists.map(({ revision }) => revision).join();
    // A revision is the number of one list, so an order with this key has entries of this type.
    const known = this.#orders.get(key) as readonly OrderedEntry<Entry>[] | undefined;
    if (known !== undefined) return known;
    const order = sorted(lists);
    if (this.#orders.size < mostOrders) this.#orders.set(key, order);
    return order;
  }
}

export function listOf(kind: NamedKind, { tools, resources }: ServerCatalog): SharedList<SharedEntry> {
  return kind === 'tool' ? tools : resources.lists[kind];
}

function placesOf(kind: NamedKind, servers: Iterable<ServerCatalog>): ReadonlyMap<string, EntryPlace> {
  const places = new Map<string, EntryPlace>();
  for (const server of servers) {
    for (const [index, { name }] of listOf(kind, server).entries.entries()) places.set(name, { server, index });
  }
  return places;
}

function sorted<Entry extends SharedEntry>(lists: readonly SharedList<Entry>[]): readonly OrderedEntry<Entry>[] {
  const all = lists.flatMap(({ entries }, list) => entries.map((entry, index) => ({ list, index, entry })));
  // Each list is sorted already, and their concatenation often is too.
  return all.sort((a, b) => (a.entry.name < b.entry.name ? -1 : 1));
}
