import { readingSpellings, resourcePrefix } from './reading-name.ts';
import { type UriForms, uriForms } from './uri-forms.ts';

/** A template of a server. */
export interface UriTemplateForm {
  /** As the server writes it. */
  readonly text: string;
  /** Whether a URI could come from it. */
  fits(uri: string): boolean;
}

/** The templates of its server that a URI could come from. */
export type FormsOf = () => readonly UriTemplateForm[];

/** Something that an agent wants to read, as rules and lists look at it. */
export interface Reading {
  /** `resource:<uri>` or `prompt:<name>`, as it was written. */
  readonly subject: string;
  /** Every way people may write it in a list. */
  readonly spellings: readonly string[];
  /** Of a resource; made when somebody first asks. */
  readonly forms: UriForms | undefined;
  /** Somebody asked for the forms, and there are too many to look at all of them. */
  readonly hasTooManyForms: boolean;
  /**
   * Whether the URI fits a template that is `wanted`, in any of its spellings. Templates are given as `resource:` and
   * their text. Matching is dear and most templates are in no rule, so only those that are wanted are compared.
   */
  fitsTemplate(wanted: (subject: string) => boolean): boolean;
}

export function createReading(server: string, subject: string, formsOf: FormsOf | undefined): Reading {
  const uri = subject.startsWith(resourcePrefix) ? subject.slice(resourcePrefix.length) : undefined;
  let forms: UriForms | undefined;
  let uris: readonly string[] | undefined;
  const known = new Map<UriTemplateForm, boolean>();

  function fits(template: UriTemplateForm, { spellings }: UriForms): boolean {
    uris ??= spellings();
    const fit = known.get(template) ?? uris.some((each) => template.fits(each));
    known.set(template, fit);
    return fit;
  }

  return {
    subject,
    spellings: readingSpellings(server, subject),
    get forms() {
      if (uri !== undefined) forms ??= uriForms(uri);
      return forms;
    },
    get hasTooManyForms() {
      return forms?.isComplete === false;
    },
    fitsTemplate(wanted) {
      const own = this.forms;
      if (own?.isComplete !== true || formsOf === undefined) return false;
      return formsOf().some((template) => wanted(`${resourcePrefix}${template.text}`) && fits(template, own));
    },
  };
}
