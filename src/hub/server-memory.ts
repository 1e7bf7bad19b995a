import type { CatalogStore } from '../storage/index.ts';
import type { RememberedServer, ServerMemory } from '../upstream/index.ts';

/** What servers said of themselves: read once, kept at hand, written behind. */
export async function openServerMemory(store: CatalogStore): Promise<ServerMemory> {
  const known: Map<string, RememberedServer> = await store.load();
  return {
    recall: (server) => known.get(server),
    remember(server, remembered) {
      known.set(server, remembered);
      store.save(server, remembered);
    },
  };
}
