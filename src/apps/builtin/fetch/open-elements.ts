import type { Attributes, PageWriter } from './elements.ts';

/** A page may open as many elements as it has bytes. Below this depth, each new element closes the one around it. */
export const maxElementDepth = 256;

/**
 * The elements that are open at the current place of the page. The tokenizer's own parser searches all open elements
 * for each tag, which a hostile page makes quadratic. Here their number is bounded, and a tag costs only what it closes.
 */
export class OpenElements {
  readonly #writer: PageWriter;
  readonly #stack: string[] = [];
  /** How often each name is on the stack, so that a tag which closes nothing costs nothing. */
  readonly #counts = new Map<string, number>();

  constructor(writer: PageWriter) {
    this.#writer = writer;
  }

  get isInForeignContext(): boolean {
    return this.#counts.has('svg') || this.#counts.has('math');
  }

  open(name: string, attributes: Attributes, isSelfClosing: boolean): void {
    const ended = endedBy.get(name);
    while (ended?.has(this.#stack.at(-1) ?? '')) this.#pop();
    if (this.#stack.length === maxElementDepth) this.#pop();
    this.#writer.open(name, attributes);
    if (isSelfClosing || voids.has(name)) {
      this.#writer.close(name);
      return;
    }
    this.#stack.push(name);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  close(name: string): void {
    if (!this.#counts.has(name)) return;
    while (this.#stack.at(-1) !== name) this.#pop();
    this.#pop();
  }

  closeAll(): void {
    while (this.#stack.length > 0) this.#pop();
  }

  #pop(): void {
    const top = this.#stack.pop() ?? '';
    const others = (this.#counts.get(top) ?? 0) - 1;
    if (others > 0) this.#counts.set(top, others);
    else this.#counts.delete(top);
    this.#writer.close(top);
  }
}

const voids: ReadonlySet<string> = new Set(
  'area base basefont br col embed frame hr img input link meta param source track wbr'.split(' '),
);

/** Elements that implicitly end others, because people leave out end tags. */
const endedBy: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    a: 'a',
    li: 'li p',
    dt: 'dt dd p',
    dd: 'dt dd p',
    option: 'option',
    tr: 'tr td th p',
    td: 'td th p',
    th: 'td th p',
    tbody: 'thead tbody tr td th p',
    tfoot: 'thead tbody tr td th p',
    ...Object.fromEntries(
      'p h1 h2 h3 h4 h5 h6 address article aside blockquote details div dl fieldset figure footer form header hr main nav ol pre section table ul'
        .split(' ')
        .map((block) => [block, 'p']),
    ),
  }).map(([begins, ends]) => [begins, new Set(ends.split(' '))]),
);
