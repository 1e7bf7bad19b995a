import { type ConfiguredServer, type Problem, placeOf, type SourceRef } from '../../domain/index.ts';
import { quote, toProblem } from '../findings.ts';

/** Two names that differ only in letter case are two servers. Restrictions of one may be meant for the other. */
export function findSimilarNames(servers: ReadonlyMap<string, ConfiguredServer>): readonly Problem[] {
  const first = new Map<string, string>();
  return [...servers].flatMap(([name, server]): Problem[] => {
    const other = first.get(name.toLowerCase());
    if (other === undefined) {
      first.set(name.toLowerCase(), name);
      return [];
    }
    const { file, line } = sourceOf(server);
    const before = servers.get(other);
    const at = before === undefined ? '' : ` in ${placeOf(sourceOf(before))}`;
    const message =
      `Server ${quote(name)}: its name and that of ${quote(other)}${at} differ only in letter case. ` +
      'The restrictions of one do not apply to the other.';
    return [
      toProblem(file, { severity: 'warning', line, server: name, message, fix: 'Rename or remove one of the two.' }),
    ];
  });
}

function sourceOf(server: ConfiguredServer): SourceRef {
  return server.kind === 'ready' ? server.spec.source : server.source;
}
