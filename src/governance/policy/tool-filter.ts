import { type Decision, listSourceOf, type SourceRef, type ToolFilter } from '../../domain/index.ts';
import { compileNameList, type NameList } from './name-list.ts';
import { includesReads, resourceUriOf } from './uris/read-name.ts';
import { perForms, perTemplate, type ReadSubject } from './uris/read-subject.ts';
import { type EntryForms, entryForms } from './uris/uri-forms.ts';

/** The include and exclude lists of one level: a server's own, or an agent's for that server. */
export interface CompiledFilter {
  /** The denial. Undefined if this level lets the tool through. */
  refuse(spellings: readonly string[]): Decision | undefined;
  /** The same for a resource or prompt. A URI is checked in all its normal forms. */
  refuseRead(read: ReadSubject): Decision | undefined;
}

/** `by` names the owner of the list, for the operator. */
export function compileFilter(filter: ToolFilter, server: string, by: string, source: SourceRef): CompiledFilter {
  const include = compileOptional(filter.include);
  const exclude = compileOptional(filter.exclude);
  const readable = filter.include?.filter((entry) => includesReads(entry, server));
  const included = compileOptional(readable);
  const includedForms = formsIn(readable, server, 'exact');
  const excludedForms = formsIn(filter.exclude, server, 'loose');
  const includesAll = includedForms.includes('*');
  const [includedUris, excludedUris] = [compileNameList(includedForms), compileNameList(excludedForms)];
  const includesForms = perForms(({ exact }) => exact.every((form) => includedUris.matchesAny([form])));
  const excludesForms = perForms(({ loose }) => excludedUris.matchesAny(loose));
  const excludesTemplate = perTemplate((template) => exclude?.matchesAny([template]) === true);
  const excluded: Decision = {
    effect: 'deny',
    reason: { kind: 'excluded', by, source: listSourceOf(filter, 'exclude', source) },
  };
  const notIncluded: Decision = {
    effect: 'deny',
    reason: { kind: 'not-included', by, source: listSourceOf(filter, 'include', source) },
  };

  function isExcluded(read: ReadSubject): boolean {
    if (exclude === undefined) return false;
    if (exclude.matchesAny(read.spellings)) return true;
    // Forms are expensive. Without an entry that fits resources, they change nothing.
    const forms = excludedForms.length === 0 ? undefined : read.forms;
    if (forms === undefined) return false;
    return excludesForms(forms) || read.fitsTemplate(excludesTemplate);
  }

  function isIncluded(read: ReadSubject): boolean {
    if (included === undefined) return true;
    const { spellings } = read;
    if (!included.matchesAny(spellings)) return false;
    // An entry for this exact spelling is deliberate.
    if (includesAll || included.namesAny(spellings)) return true;
    const { forms } = read;
    return forms === undefined || includesForms(forms);
  }

  return {
    refuse(spellings) {
      if (exclude?.matchesAny(spellings)) return excluded;
      return include === undefined || include.matchesAny(spellings) ? undefined : notIncluded;
    },
    refuseRead(read) {
      if (isExcluded(read)) return excluded;
      return isIncluded(read) ? undefined : notIncluded;
    },
  };
}

function compileOptional(entries: readonly string[] | undefined): NameList | undefined {
  return entries === undefined ? undefined : compileNameList(entries);
}

/** The normal forms of the URIs in entries for resources. */
function formsIn(entries: readonly string[] | undefined, server: string, kind: keyof EntryForms): readonly string[] {
  return (entries ?? []).flatMap((entry) => {
    const uri = resourceUriOf(entry, server);
    return uri === undefined ? [] : entryForms(uri)[kind];
  });
}
