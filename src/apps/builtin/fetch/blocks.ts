import type { Container, Lines } from './page-lines.ts';
import type { Tables } from './page-tables.ts';
import type { Preformatted } from './preformatted.ts';

interface List {
  readonly isOrdered: boolean;
  readonly container: Container;
  items: number;
}

export interface BlockDeps {
  readonly lines: Lines;
  readonly tables: Tables;
  readonly preformatted: Preformatted;
  readonly isMarkdown: boolean;
}

/** Writes paragraphs, headings, quotes and lists. */
export class Blocks {
  readonly #deps: BlockDeps;
  readonly #lists: List[] = [];

  constructor(deps: BlockDeps) {
    this.#deps = deps;
  }

  static has(name: string): boolean {
    return paragraphs.has(name) || blocks.has(name);
  }

  open(name: string): void {
    const { lines, tables, preformatted, isMarkdown } = this.#deps;
    if (breaking.has(name)) tables.giveUp();
    lines.end(this.#distanceOf(name));
    const level = headings.indexOf(name) + 1;
    if (level > 0 && isMarkdown) lines.lead(`${'#'.repeat(level)} `);
    if (name === 'blockquote') lines.enter(isMarkdown ? { first: '> ', rest: '> ' } : { first: '', rest: '' });
    if (name === 'ul' || name === 'ol') this.#openList(name === 'ol');
    if (name === 'li') this.#openItem();
    if (name === 'pre') preformatted.open();
  }

  close(name: string): void {
    const { lines, preformatted } = this.#deps;
    if (name === 'pre') preformatted.close();
    if (headings.includes(name)) lines.lead('');
    if (name === 'blockquote' || name === 'ul' || name === 'ol') lines.leave();
    if (name === 'ul' || name === 'ol') this.#lists.pop();
    lines.end(this.#distanceOf(name));
  }

  rule(): void {
    const { lines, tables, isMarkdown } = this.#deps;
    tables.giveUp();
    lines.end(2);
    if (isMarkdown) lines.line('---');
    lines.end(2);
  }

  #openList(isOrdered: boolean): void {
    const container = { first: '', rest: '' };
    this.#lists.push({ isOrdered, items: 0, container });
    this.#deps.lines.enter(container);
  }

  #openItem(): void {
    const list = this.#lists.at(-1);
    if (list === undefined) {
      this.#deps.lines.lead('- ');
      return;
    }
    list.items++;
    list.container.first = list.isOrdered ? `${list.items}. ` : '- ';
    list.container.rest = ' '.repeat(list.container.first.length);
  }

  /** A nested list stays close to its item. */
  #distanceOf(block: string): 1 | 2 {
    const isInner = this.#lists.length > 0 && (block === 'ul' || block === 'ol');
    return paragraphs.has(block) && !isInner ? 2 : 1;
  }
}

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));

const headings: readonly string[] = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
/** Surrounded by an empty line. */
const paragraphs = setOf(
  'p h1 h2 h3 h4 h5 h6 ul ol dl pre blockquote article aside section header footer main nav form fieldset figure',
);
const blocks = setOf('div li dt dd address figcaption legend summary details option body html center textarea button');
/** A table with one of these in a cell is a layout table. */
const breaking = setOf('h1 h2 h3 h4 h5 h6 pre blockquote');
