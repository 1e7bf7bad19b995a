import { exposedText } from './exposed-text.ts';
import { createResourceFinder } from './find-resource.ts';
import { type Found, type Offer, readable } from './offers.ts';
import type { ViewSource } from './view.ts';

/** What an agent's servers offer to read, under the names and URIs that the agent sees. */
export interface Shelves {
  findPrompt(name: string): Found | undefined;
  findResource(uri: string): Found | undefined;
  findTemplate(text: string): Found | undefined;
  /** JSON arrays of the definitions. */
  promptsText(): string;
  resourcesText(): string;
  templatesText(): string;
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
    promptsText: () => listText(prompts, 'prompt', 'name'),
    resourcesText: () => listText(resources, 'resource', 'uri'),
    templatesText: () => listText(templates, 'resource', 'uriTemplate'),
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

function listText(shelf: Shelf, kind: 'prompt' | 'resource', member: 'name' | 'uri' | 'uriTemplate'): string {
  const texts: string[] = [];
  for (const [name, { offer, own, text }] of shelf) {
    if (readable(offer, kind, own) !== undefined) texts.push(exposedText(text, member, own, name));
  }
  return `[${texts.join(',')}]`;
}
