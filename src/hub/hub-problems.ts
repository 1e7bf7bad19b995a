import type { NameBook } from '../calls/index.ts';
import type { Problem } from '../domain/index.ts';
import { type KnownTool, type KnownTools, unknownNames } from '../governance/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { ConfigurationSource } from './configuration/configuration-source.ts';
import { definitionProblems } from './definitions/definition-problems.ts';
import { ledgerProblems } from './ledger-problems.ts';
import type { NameBooks } from './name-books.ts';
import { nameProblems } from './name-problems.ts';
import type { UpstreamPool } from './upstream-pool.ts';

export interface ProblemSources {
  readonly source: ConfigurationSource;
  readonly pool: UpstreamPool;
  readonly names: NameBooks;
}

/** Of the configuration, of names in it that no known server has, of definitions that changed, and of the ledger. */
export function problemsOf(
  { source, pool, names }: ProblemSources,
  ledger: Ledger,
  journal: string,
): readonly Problem[] {
  const { configuration } = source;
  return [
    ...source.notices(),
    ...configuration.problems,
    ...unknownNamesOf({ source, pool, names }),
    ...nameProblems(configuration, names.of('tool').collisions),
    ...definitionProblems(pool),
    ...ledgerProblems(ledger, journal),
  ];
}

/** Names in lists and rules that no server has, of those whose tools are known. */
export function unknownNamesOf({ source, pool, names }: ProblemSources): readonly Problem[] {
  return unknownNames(source.configuration, knownTools(pool, names.of('tool')));
}

function knownTools(pool: UpstreamPool, names: NameBook): KnownTools {
  const known = new Map<string, KnownTool[]>();
  for (const [server, { control }] of pool.upstreams) {
    const { lastCatalog: catalog } = control;
    if (catalog === undefined) continue;
    known.set(server, [
      ...catalog.tools.map(({ name }) => ({ name, exposedName: names.nameOf(server, name) })),
      ...catalog.prompts.map(({ name }) => ({ name: `prompt:${name}` })),
      ...catalog.resources.map(({ uri }) => ({ name: `resource:${uri}` })),
      ...catalog.templates.map(({ uriTemplate }) => ({ name: `resource:${uriTemplate}` })),
    ]);
  }
  return known;
}
