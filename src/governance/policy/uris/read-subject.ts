import { createWorkBudget, type WorkBudget } from '../../../base/index.ts';
import type { UriProblem } from '../../../domain/index.ts';
import { readSpellings, resourcePrefix } from './read-name.ts';
import { type UriForms, uriForms } from './uri-forms.ts';

/** A resource template of a server. */
export interface UriTemplateForm {
  /** As the server writes it. */
  readonly text: string;
  /** Whether the URI can come from the template. Nothing is compared once the budget is spent. */
  fits(uri: string, budget: WorkBudget): boolean;
}

/** The templates of the server that the URI can come from. */
export type FormsOf = () => readonly UriTemplateForm[];

/** A URI in a server's list. What is computed for it is the same for all agents. */
export interface ListedUri {
  /** Why the URI cannot be compared safely. */
  readonly problem: UriProblem | undefined;
  /** Undefined if the URIs before it used up the work for the lists. It is then left out where forms matter. */
  readonly forms: UriForms | undefined;
}

/** A resource or prompt that an agent wants to read, as rules and lists see it. */
export interface ReadSubject {
  /** `resource:<uri>` or `prompt:<name>`, as written. */
  readonly subject: string;
  /** The spellings that lists may use. */
  readonly spellings: readonly string[];
  /** Only for a resource. Computed on first use. */
  readonly forms: UriForms | undefined;
  /** True if the forms were computed and are too many to check. */
  readonly hasTooManyForms: boolean;
  /** True if the budget was spent before the forms were computed and all templates were compared. */
  readonly takesTooLong: boolean;
  /**
   * Whether the URI, in any of its spellings, matches a template for which `wanted` is true. Matching is expensive and
   * few templates are in a rule, so only wanted templates are compared.
   */
  fitsTemplate(wanted: (template: UriTemplateForm) => boolean): boolean;
}

/** Comparison steps for one decision: a few milliseconds. */
export const maxDecisionWork = 2_000_000;

/** `origin` is a URI from the server's list, or the templates that a URI of the caller's own may come from. */
export function createReadSubject(
  server: string,
  subject: string,
  origin: FormsOf | ListedUri | undefined,
  budget: WorkBudget = createWorkBudget(maxDecisionWork),
): ReadSubject {
  const uri = subject.startsWith(resourcePrefix) ? subject.slice(resourcePrefix.length) : undefined;
  const formsOf = typeof origin === 'function' ? origin : undefined;
  const listed = typeof origin === 'function' ? undefined : origin;
  let forms: UriForms | undefined;
  let isUnknown = false;
  let uris: readonly string[] | undefined;
  const known = new Map<UriTemplateForm, boolean>();

  function computeForms(text: string): UriForms | undefined {
    if (listed !== undefined) return listed.forms;
    const own = uriForms(text);
    budget.spend(own.loose.length * text.length * stepsPerForm);
    return own;
  }

  function fits(template: UriTemplateForm, { spellings }: UriForms): boolean {
    uris ??= spellings();
    const fit = known.get(template) ?? uris.some((each) => template.fits(each, budget));
    known.set(template, fit);
    return fit;
  }

  return {
    subject,
    spellings: readSpellings(server, subject),
    get forms() {
      if (uri === undefined || forms !== undefined) return forms;
      forms = computeForms(uri);
      isUnknown = forms === undefined;
      return forms;
    },
    get hasTooManyForms() {
      return forms?.isComplete === false;
    },
    get takesTooLong() {
      return isUnknown || budget.isSpent;
    },
    fitsTemplate(wanted) {
      const own = this.forms;
      if (own?.isComplete !== true || formsOf === undefined) return false;
      return formsOf().some((template) => wanted(template) && fits(template, own));
    },
  };
}

/** The cost of one character of a normal form, in comparison steps. */
const stepsPerForm = 4;

/** Computes a value once per template. Rules and lists see `resource:` and the template's text. */
export function perTemplate<T>(compute: (subject: string) => T): (template: UriTemplateForm) => T {
  const known = new WeakMap<UriTemplateForm, { readonly said: T }>();
  return (template) => {
    let found = known.get(template);
    if (found === undefined) {
      found = { said: compute(`${resourcePrefix}${template.text}`) };
      known.set(template, found);
    }
    return found.said;
  };
}

/** What rules or lists say of the forms of a URI, worked out once for each. Agents share those of listed URIs. */
export function perForms<T>(compute: (forms: UriForms) => T): (forms: UriForms) => T {
  const known = new WeakMap<UriForms, { readonly said: T }>();
  return (forms) => {
    let found = known.get(forms);
    if (found === undefined) {
      found = { said: compute(forms) };
      known.set(forms, found);
    }
    return found.said;
  };
}
