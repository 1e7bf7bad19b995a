import type { Catalog } from '../../domain/index.ts';
import { onlyTools } from '../../domain/index.ts';
import type { UpstreamHandles } from '../../upstream/index.ts';
import { renewServerResources, type ServerResources } from './server-resources.ts';
import { namedTools, type SharedTool, sharedTools } from './server-tools.ts';
import { renewList, type SharedList } from './shared-list.ts';
import type { ViewSource } from './view.ts';

/** The lists of one server at one time under exposed names, for all agents. Immutable: a change makes a new one. */
export interface ServerCatalog {
  readonly server: string;
  readonly handles: UpstreamHandles;
  /** The server's name in URIs. */
  readonly namespace: string;
  /** The last lists of the server, even if they are too old to be shown. */
  readonly catalog: Catalog | undefined;
  /** Whether they are shown. False for an undiscovered server, or one that was unavailable for too long. */
  readonly isListed: boolean;
  readonly tools: SharedList<SharedTool>;
  readonly resources: ServerResources;
}

export interface ServerCatalogFacts {
  readonly source: NamedSource;
  readonly handles: UpstreamHandles;
  readonly nextRevision: () => number;
}

export type NamedSource = Pick<ViewSource, 'upstreams' | 'names' | 'promptNames' | 'resourceNames'>;

/** Returns the earlier one if nothing changed that an agent could notice. */
export function renewServerCatalog(
  { source, handles, nextRevision }: ServerCatalogFacts,
  earlier: ServerCatalog | undefined,
): ServerCatalog {
  const { control } = handles;
  const { names, promptNames, resourceNames } = source;
  const server = control.spec.name;
  const namespace = resourceNames.namespaceOf(server);
  const catalog = control.catalog ?? control.lastCatalog;
  const isListed = control.catalog !== undefined;
  const known = earlier?.handles === handles && earlier.namespace === namespace ? earlier : undefined;
  const ownedBy = (uri: string): string => resourceNames.ownedBy(server, uri);
  const nameOf = (own: string): string => names.nameOf(server, own);
  const entries = sharedTools(namedTools(catalog ?? nothingListed), { nameOf, ownedBy }, known?.tools);
  const tools = renewList(server, entries, nextRevision, known?.tools);
  const resources = renewServerResources(
    {
      server,
      catalog: catalog ?? nothingListed,
      promptName: (own) => promptNames.nameOf(server, own),
      resourceName: (own) => resourceNames.nameOf(server, own),
      ownedBy,
      nextRevision,
    },
    known?.resources,
  );
  const isSame =
    known?.isListed === isListed &&
    (known.catalog === undefined) === (catalog === undefined) &&
    known.catalog?.withheld === catalog?.withheld &&
    known.tools === tools &&
    known.resources === resources;
  return isSame ? known : { server, handles, namespace, catalog, isListed, tools, resources };
}

const nothingListed: Catalog = onlyTools([], 0);
