import type { Attributes } from './elements.ts';
import type { Lines } from './page-lines.ts';

/** Writes `pre` elements verbatim, in Markdown between fences. */
export class Preformatted {
  readonly #lines: Lines;
  /** Undefined for plain text. */
  readonly #fence: string | undefined;
  #depth = 0;
  #isFenced = false;
  #language = '';

  constructor(lines: Lines, fence: string | undefined) {
    this.#lines = lines;
    this.#fence = fence;
  }

  get isOpen(): boolean {
    return this.#depth > 0;
  }

  open(): void {
    this.#depth++;
  }

  /** Pages name the language in the class of the `pre` element or of one inside it. */
  look(attributes: Attributes): void {
    if (this.isOpen && !this.#isFenced) this.#language = languageOf(attributes) ?? this.#language;
  }

  write(text: string): void {
    if (this.#fence === undefined || this.#isFenced) {
      this.#lines.verbatim(text);
      return;
    }
    if (text.trim() === '') return;
    this.#lines.line(`${this.#fence}${this.#language}`);
    this.#isFenced = true;
    this.#lines.verbatim(text.replace(/^\r?\n/, ''));
  }

  close(): void {
    this.#depth--;
    if (this.#depth > 0) return;
    if (this.#isFenced) this.#lines.line(this.#fence ?? '');
    this.#isFenced = false;
    this.#language = '';
  }
}

function languageOf({ class: names }: Attributes): string | undefined {
  return /(?:^|\s)lang(?:uage)?-([\w+#-]{1,20})/.exec(names ?? '')?.[1];
}
