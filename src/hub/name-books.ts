import { createNameBook, createResourceNames, type NameBook, type ViewSource } from '../calls/index.ts';
import type { Fleet, GivenName, NameKind } from '../domain/index.ts';
import type { NameStore } from '../storage/index.ts';

/** The names that were given in a workspace: read once, kept at hand, written behind. */
export interface NameBooks {
  /** Tools and prompts are apart, and so are the ways of naming. */
  of(kind: NameKind): NameBook;
  /** What views name things by. URIs of resources are remembered as long as the hub lives. */
  forViews(): Pick<ViewSource, 'names' | 'promptNames' | 'resourceNames'>;
  adopt(fleet: Fleet): void;
  flush(): Promise<void>;
}

export async function openNameBooks(store: NameStore, first: Fleet): Promise<NameBooks> {
  const all: readonly GivenName[] = await store.load(serversOf(first));
  const books = new Map<string, NameBook>();
  const resourceNames = createResourceNames();
  let { naming } = first;

  function open(kind: NameKind): NameBook {
    const key = { kind, naming };
    return createNameBook(naming, {
      given: all.filter((given) => given.kind === key.kind && given.naming === key.naming),
      remember: (named) => store.save({ ...key, ...named }),
    });
  }

  function of(kind: NameKind): NameBook {
    const key = `${kind} ${naming}`;
    const book = books.get(key) ?? open(kind);
    books.set(key, book);
    return book;
  }

  return {
    of,
    forViews: () => ({ names: of('tool'), promptNames: of('prompt'), resourceNames }),
    adopt(fleet) {
      naming = fleet.naming;
      store.adopt(serversOf(fleet));
    },
    flush: store.flush,
  };
}

/** A server that is switched off or invalid has not left. */
function serversOf({ servers }: Fleet): ReadonlySet<string> {
  return new Set(servers.keys());
}
