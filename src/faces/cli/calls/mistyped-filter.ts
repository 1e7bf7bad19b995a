import { wordsMeant } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import type { CallsFilterOptions } from './calls-filter.ts';

/** A filter that no call fits may name a run, agent or server that does not exist. Undefined if all exist. */
export async function mistypedFilter(
  cli: CliContext,
  workspace: string,
  filter: Pick<CallsFilterOptions, 'run' | 'agent' | 'server'>,
): Promise<string | undefined> {
  const { completeNames } = await import('../completion/complete-names.ts');
  for (const kind of ['run', 'agent', 'server'] as const) {
    const word = filter[kind];
    if (word === undefined) continue;
    // Of a configuration that cannot be read, no names are known.
    const known = await completeNames(cli, workspace, kind, '').catch((): string[] => []);
    const meant = known.includes(word) ? undefined : wordsMeant(word, known);
    if (meant !== undefined) return `Did you mean --${kind} ${meant}?`;
  }
  return undefined;
}
