import type { Decision, SourceRef, ToolFilter } from '../../domain/index.ts';
import { compileNameList, type NameList } from './name-list.ts';
import type { Reading } from './reading.ts';
import { includesReadings, resourceUriOf } from './reading-name.ts';
import { type EntryForms, entryForms } from './uri-forms.ts';

/** One level of include and exclude lists: a server's own, or an agent's for that server. */
export interface CompiledFilter {
  /** The denial, or undefined when this level lets the tool through. */
  refuse(spellings: readonly string[]): Decision | undefined;
  /** The same for a resource or a prompt; a URI counts in all its normal forms. */
  refuseReading(reading: Reading): Decision | undefined;
}

/** `by` says whose list it is, in words for the operator. */
export function compileFilter(filter: ToolFilter, server: string, by: string, source: SourceRef): CompiledFilter {
  const include = compileOptional(filter.include);
  const exclude = compileOptional(filter.exclude);
  const readable = filter.include?.filter((entry) => includesReadings(entry, server));
  const included = compileOptional(readable);
  const includedForms = compileForms(readable, server, 'exact');
  const excludedForms = compileForms(filter.exclude, server, 'loose');
  const excluded: Decision = { effect: 'deny', reason: { kind: 'excluded', by, source } };
  const notIncluded: Decision = { effect: 'deny', reason: { kind: 'not-included', by, source } };

  function isExcluded(reading: Reading): boolean {
    if (exclude === undefined || excludedForms === undefined) return false;
    if (exclude.matchesAny(reading.spellings)) return true;
    const { forms } = reading;
    if (forms === undefined) return false;
    return excludedForms.matchesAny(forms.loose) || reading.fitsTemplate((template) => exclude.matchesAny([template]));
  }

  function isIncluded({ spellings, forms }: Reading): boolean {
    if (included === undefined || includedForms === undefined) return true;
    if (!included.matchesAny(spellings)) return false;
    // Who names this very spelling means it.
    if (forms === undefined || included.namesAny(spellings)) return true;
    return forms.exact.every((form) => includedForms.matchesAny([form]));
  }

  return {
    refuse(spellings) {
      if (exclude?.matchesAny(spellings)) return excluded;
      return include === undefined || include.matchesAny(spellings) ? undefined : notIncluded;
    },
    refuseReading(reading) {
      if (isExcluded(reading)) return excluded;
      return isIncluded(reading) ? undefined : notIncluded;
    },
  };
}

function compileOptional(entries: readonly string[] | undefined): NameList | undefined {
  return entries === undefined ? undefined : compileNameList(entries);
}

/** The URIs of those entries that speak of resources, in their normal forms. */
function compileForms(
  entries: readonly string[] | undefined,
  server: string,
  kind: keyof EntryForms,
): NameList | undefined {
  return compileOptional(
    entries?.flatMap((entry) => {
      const uri = resourceUriOf(entry, server);
      return uri === undefined ? [] : entryForms(uri)[kind];
    }),
  );
}
