/** Text around a span, such as `**`. */
export interface Mark {
  readonly name: string;
  readonly begin: string;
  readonly end: string;
}

/** Writes marks when there is text to mark. They close at the end of a line and open again on the next one. */
export class Marks {
  readonly #put: (text: string) => void;
  /** Open with the next text. */
  #wanted: Mark[] = [];
  #open: Mark[] = [];

  constructor(put: (text: string) => void) {
    this.#put = put;
  }

  add(mark: Mark): void {
    this.#wanted.push(mark);
  }

  remove(name: string): void {
    this.#forget(name);
    const at = this.#open.findIndex((each) => each.name === name);
    if (at === -1) return;
    this.suspend(at);
    this.#forget(name);
  }

  /** Call before text. */
  begin(): void {
    for (const mark of this.#wanted) this.#put(mark.begin);
    this.#open.push(...this.#wanted);
    this.#wanted = [];
  }

  /** Closes the open marks, the innermost first; they open again with the next text. */
  suspend(from = 0): void {
    if (this.#open.length === from) return;
    const ended = this.#open.slice(from);
    for (const mark of ended.toReversed()) this.#put(mark.end);
    this.#open = this.#open.slice(0, from);
    this.#wanted = [...ended, ...this.#wanted];
  }

  #forget(name: string): void {
    this.#wanted = this.#wanted.filter((each) => each.name !== name);
  }
}
