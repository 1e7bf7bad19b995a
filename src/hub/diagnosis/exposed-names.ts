import type { Configuration } from '../../domain/index.ts';
import type { Inspection, ServerMemory } from '../../upstream/index.ts';
import { createNameBooks } from '../name-books.ts';

/** An entry whose exposed name or URI differs from the server's own. */
export interface ExposedName {
  readonly kind: 'prompt' | 'resource' | 'template';
  readonly own: string;
  readonly name: string;
}

type ServerCatalog = Readonly<Record<ExposedName['kind'], readonly string[]>>;

/**
 * The exposed names that a new hub would give the server's entries, if they differ from the server's own. Other servers
 * count with their stored lists.
 */
export function exposedNames(
  memory: Pick<ServerMemory, 'recall'>,
  configuration: Configuration,
  server: string,
  inspection: Inspection,
): readonly ExposedName[] {
  const { promptNames, resourceNames } = createNameBooks(configuration).forViews();
  resourceNames.adopt(configuration.servers.keys());

  function nameAll(name: string, lists: ServerCatalog): ExposedName[] {
    const named = (kind: ExposedName['kind'], own: string): ExposedName => ({
      kind,
      own,
      name: (kind === 'prompt' ? promptNames : resourceNames).nameOf(name, own),
    });
    return [
      ...lists.prompt.map((own) => named('prompt', own)),
      ...lists.resource.map((own) => named('resource', own)),
      ...lists.template.map((own) => named('template', own)),
    ];
  }

  // In configuration order, as in the hub.
  const all = [...configuration.servers.keys()].flatMap((name) => {
    if (name === server) return nameAll(name, catalogOf(inspection));
    const { prompts = [], resources = [], templates = [] } = memory.recall(name) ?? {};
    nameAll(name, {
      prompt: prompts.map((prompt) => prompt.name),
      resource: resources.map(({ uri }) => uri),
      template: templates.map(({ uriTemplate }) => uriTemplate),
    });
    return [];
  });
  return all.filter(({ own, name }) => own !== name);
}

/** Every listed entry has a name. */
function catalogOf({ prompts, resources, resourceTemplates }: Inspection): ServerCatalog {
  return {
    prompt: prompts.map(({ name }) => String(name)),
    resource: resources.map(({ uri }) => String(uri)),
    template: resourceTemplates.map(({ uriTemplate }) => String(uriTemplate)),
  };
}
