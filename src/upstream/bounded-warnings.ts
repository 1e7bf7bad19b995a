/** What is odd about the lists of a server: each thing once, and no more than anybody reads. */
export class BoundedWarnings {
  readonly #told = new Set<string>();
  #more = 0;

  add(warning: string): void {
    if (this.#told.has(warning)) return;
    if (this.#told.size < mostWarnings) this.#told.add(warning);
    else this.#more++;
  }

  all(): readonly string[] {
    return this.#more === 0 ? [...this.#told] : [...this.#told, `and ${this.#more} more such warnings`];
  }
}

export const mostWarnings = 20;
