import type { Decision } from '../domain/index.ts';
import { exposedText } from './exposed-text.ts';
import { createResourceFinder } from './find-resource.ts';
import { type Found, type Offer, readable } from './offers.ts';
import type { ViewSource } from './view.ts';

/** What an agent's servers offer to read, under the names and URIs that the agent sees. */
export interface Shelves {
  findPrompt(name: string): Found | undefined;
  findResource(uri: string): Found | undefined;
  findTemplate(text: string): Found | undefined;
  prompts(): readonly Listed[];
  resources(): readonly Listed[];
  templates(): readonly Listed[];
}

/** Something to read that an agent is told of. */
export interface Listed {
  /** The name, URI or template that the agent sees. */
  readonly name: string;
  readonly server: string;
  /** The same in the server's own words. */
  readonly own: string;
  readonly decision: Decision;
  /** Its definition as the agent gets it, as JSON text. */
  readonly text: string;
}

/** One definition, by its own name. */
interface Item {
  readonly offer: Offer;
  readonly own: string;
  readonly text: string;
}

/** By what the agent says. */
export type Shelf = ReadonlyMap<string, Item>;

export function createShelves(
  source: Pick<ViewSource, 'promptNames' | 'resourceNames'>,
  offers: readonly Offer[],
): Shelves {
  const { promptNames, resourceNames } = source;
  const prompts = shelve(offers, promptNames, ({ catalog }) =>
    catalog.prompts.map(({ name, text }) => ({ own: name, text })),
  );
  const resources = shelve(offers, resourceNames, ({ catalog }) =>
    catalog.resources.map(({ uri, text }) => ({ own: uri, text })),
  );
  const templates = shelve(offers, resourceNames, ({ catalog }) =>
    catalog.templates.map(({ uriTemplate, text }) => ({ own: uriTemplate, text })),
  );
  return {
    findPrompt: (name) => take(prompts, 'prompt', name),
    findResource: createResourceFinder(offers, resources, resourceNames),
    findTemplate(text) {
      const long = resourceNames.readLong(text);
      if (long === undefined) return take(templates, 'resource', text);
      const offer = offers.find(({ server }) => server === long.server);
      const isKnown = offer?.catalog.templates.some(({ uriTemplate }) => uriTemplate === long.own);
      return offer !== undefined && isKnown === true ? readable(offer, 'resource', long.own) : undefined;
    },
    prompts: () => list(prompts, 'prompt', 'name'),
    resources: () => list(resources, 'resource', 'uri'),
    templates: () => list(templates, 'resource', 'uriTemplate'),
  };
}

/** In the order of exposed names, so that a list does not change with the order of servers. */
function shelve(
  offers: readonly Offer[],
  names: { nameOf(server: string, own: string): string },
  itemsOf: (offer: Offer) => readonly Omit<Item, 'offer'>[],
): Shelf {
  const items = new Map<string, Item>();
  for (const offer of offers) {
    for (const item of itemsOf(offer)) items.set(names.nameOf(offer.server, item.own), { offer, ...item });
  }
  return new Map([...items].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function take(shelf: Shelf, kind: 'prompt' | 'resource', name: string): Found | undefined {
  const item = shelf.get(name);
  return item && readable(item.offer, kind, item.own);
}

function list(shelf: Shelf, kind: 'prompt' | 'resource', member: 'name' | 'uri' | 'uriTemplate'): readonly Listed[] {
  const listed: Listed[] = [];
  for (const [name, { offer, own, text }] of shelf) {
    const found = readable(offer, kind, own);
    if (found === undefined) continue;
    const { decision } = found;
    listed.push({ name, server: offer.server, own, decision, text: exposedText(text, member, own, name) });
  }
  return listed;
}
