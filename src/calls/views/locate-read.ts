import type { CatalogIndex, EntryPlace } from './catalog-index.ts';
import { type Found, findResource } from './find-resource.ts';
import type { ResourceNames } from './naming/resource-names.ts';
import type { ReadKind, ReadPlace } from './read-target.ts';
import type { ServerCatalog } from './server-catalog.ts';

export interface ReadSearch {
  readonly index: CatalogIndex;
  /** In the order of the configuration. */
  readonly servers: readonly ServerCatalog[];
  readonly names: Pick<ResourceNames, 'readLong'>;
  /** Undefined if the agent may not read it. */
  readonly readable: (server: ServerCatalog, subject: ReadPlace['subject'], own: string) => Found | undefined;
}

/** Finds a resource, template or prompt by its exposed name or URI in these servers. */
export function locateRead(search: ReadSearch, kind: ReadKind, name: string): ReadPlace | undefined {
  switch (kind) {
    case 'prompt':
      return placeOf('prompt', findPrompt(search, name));
    case 'resource':
    case 'subscription':
      return placeOf('resource', findUri(search, name));
    case 'completion':
      return locateCompletion(search, name);
  }
}

/** `prompt:<name>`, or `resource:` with a template or a URI. Hidden entries have no completions. */
function locateCompletion(search: ReadSearch, name: string): ReadPlace | undefined {
  const text = name.slice(name.indexOf(':') + 1);
  if (name.startsWith('prompt:')) return placeOf('prompt', findPrompt(search, text));
  if (!name.startsWith('resource:')) return undefined;
  return placeOf('resource', findTemplate(search, text) ?? findUri(search, text));
}

function placeOf(subject: ReadPlace['subject'], found: Found | undefined): ReadPlace | undefined {
  return found && { found, subject };
}

function findUri({ servers, names, readable }: ReadSearch, uri: string): Found | undefined {
  return findResource({ servers, names, readable: (server, own) => readable(server, 'resource', own) }, uri);
}

function findPrompt(search: ReadSearch, name: string): Found | undefined {
  const place = search.index.find('prompt', name);
  const own = place?.server.resources.lists.prompt.entries[place.index]?.own;
  return place === undefined || own === undefined || !isShown(search, place)
    ? undefined
    : search.readable(place.server, 'prompt', own);
}

function findTemplate(search: ReadSearch, text: string): Found | undefined {
  const { index, names, servers, readable } = search;
  const long = names.readLong(text);
  if (long !== undefined) {
    const server = servers.find((each) => each.isListed && each.server === long.server);
    return server?.resources.lists.template.places.has(long.own) === true
      ? readable(server, 'resource', long.own)
      : undefined;
  }
  const place = index.find('template', text);
  const own = place?.server.resources.lists.template.entries[place.index]?.own;
  return place === undefined || own === undefined || !isShown(search, place)
    ? undefined
    : readable(place.server, 'resource', own);
}

function isShown({ servers }: ReadSearch, { server }: EntryPlace): boolean {
  return server.isListed && servers.includes(server);
}
