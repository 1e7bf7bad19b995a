import { createWorkBudget, type WorkBudget } from '../../base/index.ts';
import { type Decision, maxUriLength } from '../../domain/index.ts';
import { maxDecisionWork } from '../../governance/index.ts';
import { hasScopedScheme, type UriTemplate } from '../../mcp/index.ts';
import type { ResourceNames } from './naming/resource-names.ts';
import { type ReadableSubjects, schemeOf } from './readable-subjects.ts';
import type { ServerCatalog } from './server-catalog.ts';

/** A resource, template or prompt that the agent may read. */
export interface Found {
  readonly server: ServerCatalog;
  /** The server's own name, URI or template. */
  readonly own: string;
  readonly decision: Decision;
}

export interface ResourceSearch {
  /** In the order of the configuration. Unavailable ones keep their URIs: no other server gets them meanwhile. */
  readonly servers: readonly ServerCatalog[];
  readonly names: Pick<ResourceNames, 'readLong'>;
  /** Undefined if the agent may not read it. */
  readonly readable: (server: ServerCatalog, own: string) => Found | undefined;
}

/**
 * Finds the owner of a URI: the first server in the configuration that lists it or has a template for it, so that no
 * server can take another's reads with a more specific template or a longer list. Resources that the agent may not read
 * are skipped as if they did not exist, so that the result reveals nothing.
 */
export function findResource({ servers, names, readable }: ResourceSearch, uri: string): Found | undefined {
  const readers = servers.filter(({ resources }) => resources.catalog.abilities.resources);
  const long = names.readLong(uri);
  if (long !== undefined) {
    const reader = readers.find(({ server }) => server === long.server);
    return reader && readable(reader, long.own);
  }
  // Without a namespace nobody can say whose it is, and the first to claim it could stand in for another.
  if (hasScopedScheme(uri) || uri.length > maxUriLength) return undefined;
  const readableBy = decideOnce(readable, uri);
  return (
    first(
      readers,
      readableBy,
      (server, budget) => lists(server, uri) || fits(subjectsOf(server).plainTemplates, uri, budget),
    ) ??
    byScheme(readers, readableBy, uri) ??
    // A template that begins with a variable matches everything, so it comes last.
    first(readers, readableBy, (server, budget) => fits(subjectsOf(server).openTemplates, uri, budget))
  );
}

/** In the order of the configuration. */
function first(
  readers: readonly ServerCatalog[],
  readableBy: ReadableBy,
  has: (server: ServerCatalog, budget: WorkBudget) => boolean,
): Found | undefined {
  for (const reader of readers) {
    // The decision is the same for all templates of a server, and matching is expensive.
    const { found, budget } = readableBy(reader);
    if (found !== undefined && has(reader, budget)) return found;
  }
  return undefined;
}

/** Results often link to resources that are in no list. */
function byScheme(readers: readonly ServerCatalog[], readableBy: ReadableBy, uri: string): Found | undefined {
  const scheme = schemeOf(uri);
  if (scheme === undefined) return undefined;
  const found = readers.flatMap((reader) =>
    subjectsOf(reader).schemes.has(scheme) ? (readableBy(reader).found ?? []) : [],
  );
  return found.length === 1 ? found[0] : undefined;
}

function lists({ resources }: ServerCatalog, uri: string): boolean {
  return resources.lists.resource.places.has(uri);
}

function subjectsOf({ resources }: ServerCatalog): ReadableSubjects {
  return resources.reads.subjects;
}

function fits(templates: readonly UriTemplate[], uri: string, budget: WorkBudget): boolean {
  return templates.some(
    (template) => uri.startsWith(template.literalStart) && template.match(uri, budget) !== undefined,
  );
}

interface Readable {
  /** A server's resource for one URI, if the agent may read it. */
  readonly found: Found | undefined;
  /** For matching templates. Each server has its own budget, so that none can use up another's. */
  readonly budget: WorkBudget;
}

type ReadableBy = (server: ServerCatalog) => Readable;

function decideOnce(readable: ResourceSearch['readable'], uri: string): ReadableBy {
  const known = new Map<ServerCatalog, Readable>();
  return (server) => {
    let decided = known.get(server);
    if (decided === undefined) {
      decided = { found: readable(server, uri), budget: createWorkBudget(maxDecisionWork) };
      known.set(server, decided);
    }
    return decided;
  };
}
