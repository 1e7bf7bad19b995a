import type { CatalogStore } from '../storage/index.ts';
import type { RememberedServer, ServerMemory } from '../upstream/index.ts';

/** The project of the files in the workspace. */
export const fileProject = 'workspace';

/**
 * The stored facts about the servers of a project: read once, held in memory, written in the background. Servers of the
 * same name in other projects have rows of their own.
 */
export async function openServerMemory(store: CatalogStore, project: string): Promise<ServerMemory> {
  const known: Map<string, RememberedServer> = await store.load();
  const rowOf = (server: string): string => (project === fileProject ? server : `${project}\n${server}`);
  return {
    recall: (server) => known.get(rowOf(server)),
    remember(server, remembered) {
      known.set(rowOf(server), remembered);
      store.save(rowOf(server), remembered);
    },
  };
}
