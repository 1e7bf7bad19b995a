import type { Collision } from '../calls/index.ts';
import type { Fleet, Problem } from '../domain/index.ts';

/** Tools that agents see under another name than expected, because the name was taken. */
export function nameProblems(fleet: Fleet, collisions: readonly Collision[]): readonly Problem[] {
  return collisions.flatMap(({ server, wanted, holder, newcomer, given }) => {
    const entry = fleet.servers.get(server);
    if (entry?.kind !== 'ready') return [];
    const { file, line } = entry.spec.source;
    return {
      severity: 'warning' as const,
      file,
      ...(line === undefined ? {} : { line }),
      server,
      message: `Agents see ${newcomer} as "${given}", because ${holder} has the name "${wanted}".`,
      fix: 'Both can be used; rename one of the servers if the names are confusing.',
    };
  });
}
