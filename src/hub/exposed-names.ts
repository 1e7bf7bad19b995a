import type { Clock, Logger, RandomBytes } from '../base/index.ts';
import type { Fleet } from '../domain/index.ts';
import { createCatalogStore, createNameStore, workspaceLayout } from '../storage/index.ts';
import type { Inspection } from '../upstream/index.ts';
import { openNameBooks } from './name-books.ts';

/** Something that agents see under another name or URI than its server writes. */
export interface ExposedName {
  readonly kind: 'prompt' | 'resource' | 'template';
  readonly own: string;
  readonly name: string;
}

type Offer = Readonly<Record<ExposedName['kind'], readonly string[]>>;

/**
 * What a hub that is started now would call what the server offers, where that differs. Other servers count with what is
 * remembered of them; nothing is written down.
 */
export async function exposedNames(
  deps: { readonly clock: Clock; readonly random: RandomBytes; readonly logger: Logger },
  fleet: Fleet,
  server: string,
  inspection: Inspection,
): Promise<readonly ExposedName[]> {
  const layout = workspaceLayout(fleet.workspace);
  const store = createNameStore(layout, deps);
  const books = await openNameBooks({ ...store, save() {} }, fleet);
  const { promptNames, resourceNames } = books.forViews();
  const known = await createCatalogStore(layout, deps).load();
  resourceNames.adopt(fleet.servers.keys());

  function nameAll(name: string, offer: Offer): ExposedName[] {
    const named = (kind: ExposedName['kind'], own: string): ExposedName => ({
      kind,
      own,
      name: (kind === 'prompt' ? promptNames : resourceNames).nameOf(name, own),
    });
    return [
      ...offer.prompt.map((own) => named('prompt', own)),
      ...offer.resource.map((own) => named('resource', own)),
      ...offer.template.map((own) => named('template', own)),
    ];
  }

  // In the order of the configuration, in which the hub gives names.
  const all = [...fleet.servers.keys()].flatMap((name) => {
    if (name === server) return nameAll(name, offerOf(inspection));
    const { prompts = [], resources = [], templates = [] } = known.get(name) ?? {};
    nameAll(name, {
      prompt: prompts.map((prompt) => prompt.name),
      resource: resources.map(({ uri }) => uri),
      template: templates.map(({ uriTemplate }) => uriTemplate),
    });
    return [];
  });
  return all.filter(({ own, name }) => own !== name);
}

/** The readers of the lists let nothing pass without a name. */
function offerOf({ prompts, resources, resourceTemplates }: Inspection): Offer {
  return {
    prompt: prompts.map(({ name }) => String(name)),
    resource: resources.map(({ uri }) => String(uri)),
    template: resourceTemplates.map(({ uriTemplate }) => String(uriTemplate)),
  };
}
