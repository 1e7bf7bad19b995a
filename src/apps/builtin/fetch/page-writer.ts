import { Blocks } from './blocks.ts';
import type { BoundedText } from './bounded-text.ts';
import type { Attributes, PageWriter } from './elements.ts';
import { InlineMarks, maxUrlChars } from './inline-marks.ts';
import { createLines, type Lines } from './page-lines.ts';
import { createTables, type Tables } from './page-tables.ts';
import { Preformatted } from './preformatted.ts';

export type Style = 'markdown' | 'text';

export interface WrittenPage extends PageWriter {
  title(): string;
}

export interface WriterOptions {
  readonly style: Style;
  /** The base URL of relative links. */
  readonly base: URL;
  /** Delimits preformatted text. */
  readonly fence: string;
}

const maxTitleChars = 300;

/** Writes a page as Markdown or plain text. Text is not escaped, because its readers are not Markdown processors. */
export function createPageWriter(output: BoundedText, options: WriterOptions): WrittenPage {
  return new TextPage(output, options);
}

class TextPage implements WrittenPage {
  readonly #isMarkdown: boolean;
  readonly #lines: Lines;
  readonly #tables: Tables;
  readonly #preformatted: Preformatted;
  readonly #blocks: Blocks;
  readonly #marks: InlineMarks;
  readonly #pageUrl: URL;
  /** Links are resolved against this one. Undefined if it is too long: then only absolute links are written. */
  #linkBase: string | undefined;
  #hasBaseElement = false;
  #title = '';
  /** How many `title` elements, and how many hidden ones, are open. */
  #titles = 0;
  #hidden = 0;

  constructor(output: BoundedText, { style, base, fence }: WriterOptions) {
    const isMarkdown = style === 'markdown';
    const lines = createLines(output);
    const tables = createTables(lines, isMarkdown);
    const preformatted = new Preformatted(lines, isMarkdown ? fence : undefined);
    this.#isMarkdown = isMarkdown;
    this.#lines = lines;
    this.#tables = tables;
    this.#preformatted = preformatted;
    this.#blocks = new Blocks({ lines, tables, preformatted, isMarkdown });
    this.#marks = new InlineMarks(lines);
    this.#pageUrl = base;
    this.#linkBase = linkBaseOf(base);
  }

  title(): string {
    return this.#title.replace(/\s+/g, ' ').trim();
  }

  open(name: string, attributes: Attributes): void {
    if (hiddenElements.has(name)) this.#hidden++;
    if (this.#hidden > 0) return;
    const preformatted = this.#preformatted;
    if (name === 'title') this.#titles++;
    else if (name === 'base') this.#setBase(attributes);
    else if (name === 'img') this.#lines.words(attributes.alt ?? '');
    else if (name === 'br') preformatted.isOpen ? preformatted.write('\n') : this.#lines.end(1);
    else if (name === 'hr') this.#blocks.rule();
    else if (!preformatted.isOpen && this.#tables.open(name)) return;
    else if (Blocks.has(name)) this.#blocks.open(name);
    else if (this.#isMarkdown && InlineMarks.has(name)) this.#marks.open(name, attributes, this.#linkBase);
    preformatted.look(attributes);
  }

  close(name: string): void {
    if (hiddenElements.has(name)) this.#hidden--;
    else if (this.#hidden > 0) return;
    else if (name === 'title') this.#titles--;
    else if (!this.#preformatted.isOpen && this.#tables.close(name)) return;
    else if (Blocks.has(name)) this.#blocks.close(name);
    else if (this.#isMarkdown && InlineMarks.has(name)) this.#marks.close(name);
  }

  text(text: string): void {
    if (this.#hidden > 0) return;
    if (this.#titles > 0) this.#title += text.slice(0, maxTitleChars - this.#title.length);
    else if (this.#preformatted.isOpen) this.#preformatted.write(text);
    else this.#lines.words(text);
    this.#tables.look();
  }

  /** Only the first one counts, as in browsers. */
  #setBase({ href }: Attributes): void {
    if (href === undefined || this.#hasBaseElement) return;
    this.#hasBaseElement = true;
    if (!URL.canParse(href, this.#pageUrl.href)) return;
    const url = new URL(href, this.#pageUrl);
    if (url.protocol === 'http:' || url.protocol === 'https:') this.#linkBase = linkBaseOf(url);
  }
}

const hiddenElements: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe']);

/** Query and fragment never become part of another link. */
function linkBaseOf(url: URL): string | undefined {
  const base = `${url.origin}${url.pathname}`;
  return base.length > maxUrlChars ? undefined : base;
}
