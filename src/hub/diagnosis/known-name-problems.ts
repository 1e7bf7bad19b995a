import { createNameBook } from '../../calls/index.ts';
import type { Configuration, Problem } from '../../domain/index.ts';
import { type KnownTool, unknownNames } from '../../governance/index.ts';
import type { ServerMemory } from '../../upstream/index.ts';
import { nameProblems } from '../name-problems.ts';

export interface KnownNameProblems {
  /**
   * Tools whose name an earlier server has, as a hub that is started now would name them. Nothing remembers which order
   * the configuration had before, so the problem is reported as the current order would have it.
   */
  readonly taken: readonly Problem[];
  /** Names in lists and rules that their server does not have. */
  readonly unknown: readonly Problem[];
}

/** What is wrong with names, judged by the stored lists of servers. */
export function knownNameProblems(
  configuration: Configuration,
  memory: Pick<ServerMemory, 'recall'>,
): KnownNameProblems {
  const names = createNameBook(configuration.naming);
  const known = new Map<string, KnownTool[]>();
  for (const [server, entry] of configuration.servers) {
    const remembered = entry.kind === 'ready' && entry.spec.enabled ? memory.recall(server) : undefined;
    if (remembered === undefined) continue;
    known.set(server, [
      ...remembered.tools.map(({ name }) => ({ name, exposedName: names.nameOf(server, name) })),
      ...(remembered.prompts ?? []).map(({ name }) => ({ name: `prompt:${name}` })),
    ]);
  }
  return {
    taken: nameProblems(configuration, names.collisions),
    unknown: unknownNames(configuration, known).filter(({ server }) => server !== undefined),
  };
}
