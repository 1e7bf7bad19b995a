import {
  createNameBook,
  createResourceNames,
  type NameBook,
  type NameMemory,
  type ViewSource,
} from '../calls/index.ts';
import type { Fleet, GivenName, NameKind, Naming } from '../domain/index.ts';
import type { NameStore } from '../storage/index.ts';

/** The names that were given in a workspace: read once, kept at hand, written behind. */
export interface NameBooks {
  /** Tools and prompts are apart, and so are the ways of naming. */
  of(kind: 'tool' | 'prompt'): NameBook;
  /** What views name things by. */
  forViews(): Pick<ViewSource, 'names' | 'promptNames' | 'resourceNames'>;
  adopt(fleet: Fleet): void;
  flush(): Promise<void>;
}

export async function openNameBooks(store: NameStore, first: Fleet): Promise<NameBooks> {
  const all: readonly GivenName[] = await store.load(serversOf(first));
  const books = new Map<string, NameBook>();
  // A URI is never prefixed like a name, whatever the way of naming.
  const resourceNames = createResourceNames(memoryOf('resource', 'preserved'));
  let { naming } = first;

  function memoryOf(kind: NameKind, way: Naming): NameMemory {
    return {
      given: all.filter((given) => given.kind === kind && given.naming === way),
      remember: (named) => store.save({ kind, naming: way, ...named }),
    };
  }

  function of(kind: 'tool' | 'prompt'): NameBook {
    const key = `${kind} ${naming}`;
    const book = books.get(key) ?? createNameBook(naming, memoryOf(kind, naming));
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
