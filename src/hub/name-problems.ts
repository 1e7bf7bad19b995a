import type { Collision } from '../calls/index.ts';
import type { Configuration, Problem } from '../domain/index.ts';

/** Tools whose exposed name is unusual because another server has the usual one. */
export function nameProblems(configuration: Configuration, collisions: readonly Collision[]): readonly Problem[] {
  return collisions.flatMap(({ server, wanted, holder, newcomer, given }) => {
    const entry = configuration.servers.get(server);
    if (entry?.kind !== 'ready') return [];
    const { file, line } = entry.spec.source;
    return {
      severity: 'warning' as const,
      file,
      ...(line === undefined ? {} : { line }),
      server,
      message: `Agents see ${newcomer} as "${given}", because ${holder} has the name "${wanted}".`,
      fix: 'Both can be used. The server that comes first in the configuration has the name; put the other first, or rename one, to change that.',
    };
  });
}
