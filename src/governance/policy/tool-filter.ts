import type { Decision, SourceRef, ToolFilter } from '../../domain/index.ts';
import { compileNameList, type NameList } from './name-list.ts';
import { includesReadings } from './reading-name.ts';

/** One level of include and exclude lists: a server's own, or an agent's for that server. */
export interface CompiledFilter {
  /** The denial, or undefined when this level lets the tool through. */
  refuse(spellings: readonly string[]): Decision | undefined;
  /** The same for a resource or a prompt. */
  refuseReading(spellings: readonly string[]): Decision | undefined;
}

/** `by` says whose list it is, in words for the operator. */
export function compileFilter(filter: ToolFilter, server: string, by: string, source: SourceRef): CompiledFilter {
  const include = compileOptional(filter.include);
  const readable = compileOptional(filter.include?.filter((entry) => includesReadings(entry, server)));
  const exclude = compileOptional(filter.exclude);
  const excluded: Decision = { effect: 'deny', reason: { kind: 'excluded', by, source } };
  const notIncluded: Decision = { effect: 'deny', reason: { kind: 'not-included', by, source } };
  const refuse = (included: NameList | undefined, spellings: readonly string[]): Decision | undefined => {
    if (exclude?.matchesAny(spellings)) return excluded;
    return included === undefined || included.matchesAny(spellings) ? undefined : notIncluded;
  };
  return {
    refuse: (spellings) => refuse(include, spellings),
    refuseReading: (spellings) => refuse(readable, spellings),
  };
}

function compileOptional(entries: readonly string[] | undefined): NameList | undefined {
  return entries === undefined ? undefined : compileNameList(entries);
}
