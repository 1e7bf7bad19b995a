import { createNameBook } from '../../calls/index.ts';
import type { Configuration, Problem } from '../../domain/index.ts';
import type { ServerMemory } from '../../upstream/index.ts';
import { nameProblems } from '../name-problems.ts';

/**
 * Tools whose name an earlier server has, as a hub that is started now would name them. Nothing remembers which order
 * the configuration had before, so the problem is reported as the current order would have it.
 */
export function knownNameProblems(
  configuration: Configuration,
  memory: Pick<ServerMemory, 'recall'>,
): readonly Problem[] {
  const names = createNameBook(configuration.naming);
  for (const [server, entry] of configuration.servers) {
    if (entry.kind !== 'ready' || !entry.spec.enabled) continue;
    for (const { name } of memory.recall(server)?.tools ?? []) names.nameOf(server, name);
  }
  return nameProblems(configuration, names.collisions);
}
