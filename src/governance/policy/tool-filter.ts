import type { Decision, SourceRef, ToolFilter } from '../../domain/index.ts';
import { compileNameList, type NameList } from './name-list.ts';

/** One level of include and exclude lists: a server's own, or an agent's for that server. */
export interface CompiledFilter {
  /** The denial, or undefined when this level lets the tool through. */
  refuse(spellings: readonly string[]): Decision | undefined;
}

/** `by` says whose list it is, in words for the operator. */
export function compileFilter(filter: ToolFilter, by: string, source: SourceRef): CompiledFilter {
  const include = compileOptional(filter.include);
  const exclude = compileOptional(filter.exclude);
  const excluded: Decision = { effect: 'deny', reason: { kind: 'excluded', by, source } };
  const notIncluded: Decision = { effect: 'deny', reason: { kind: 'not-included', by, source } };
  return {
    refuse(spellings) {
      if (exclude?.matchesAny(spellings)) return excluded;
      if (include !== undefined && !include.matchesAny(spellings)) return notIncluded;
      return undefined;
    },
  };
}

function compileOptional(entries: readonly string[] | undefined): NameList | undefined {
  return entries === undefined ? undefined : compileNameList(entries);
}
