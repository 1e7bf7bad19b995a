/**
 * What an RE2 expression matches is replaced. Two rules are equal if they are written alike: `isDeepStrictEqual` does not
 * see private fields, and functions would differ after every load of the same file.
 */
export class RedactionRule {
  readonly regex: string;
  readonly replacement: string;
  readonly #replace: TextReplacement;

  constructor(regex: string, replacement: string, replace: TextReplacement) {
    this.regex = regex;
    this.replacement = replacement;
    this.#replace = replace;
  }

  apply(text: string, spend: (characters: number) => void): string {
    return this.#replace(text, spend);
  }
}

/** Tells `spend` how many characters each search may read. Returns the same text if there is nothing to replace. */
export type TextReplacement = (text: string, spend: (characters: number) => void) => string;
