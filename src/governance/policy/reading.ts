import { readingSpellings, resourcePrefix } from './reading-name.ts';
import { type UriForms, uriForms } from './uri-forms.ts';

/** The templates of its server that a URI could come from. */
export type FormsOf = (uri: string) => readonly string[];

/** Something that an agent wants to read, as rules and lists look at it. */
export interface Reading {
  /** `resource:<uri>` or `prompt:<name>`, as it was written. */
  readonly subject: string;
  /** Every way people may write it in a list. */
  readonly spellings: readonly string[];
  /** Of a resource; made when somebody first asks. */
  readonly forms: UriForms | undefined;
  /** `resource:` and each template that the URI fits in any of its spellings. */
  readonly templates: readonly string[];
}

export function createReading(server: string, subject: string, formsOf: FormsOf | undefined): Reading {
  const uri = subject.startsWith(resourcePrefix) ? subject.slice(resourcePrefix.length) : undefined;
  let forms: UriForms | undefined;
  let templates: readonly string[] | undefined;
  return {
    subject,
    spellings: readingSpellings(server, subject),
    get forms() {
      if (uri !== undefined) forms ??= uriForms(uri);
      return forms;
    },
    get templates() {
      if (this.forms === undefined || formsOf === undefined) return [];
      templates ??= [...new Set(this.forms.spellings.flatMap(formsOf))].map((form) => `${resourcePrefix}${form}`);
      return templates;
    },
  };
}
