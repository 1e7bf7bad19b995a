import { Blocks } from './blocks.ts';
import type { BoundedText } from './bounded-text.ts';
import type { Attributes, PageWriter } from './elements.ts';
import { InlineMarks } from './inline-marks.ts';
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
  #base: URL;
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
    this.#base = base;
  }

  title(): string {
    return this.#title.replace(/\s+/g, ' ').trim();
  }

  open(name: string, attributes: Attributes): void {
    if (hiddenElements.has(name)) this.#hidden++;
    if (this.#hidden > 0) return;
    const preformatted = this.#preformatted;
    if (name === 'title') this.#titles++;
    else if (name === 'base') this.#base = baseOf(attributes, this.#base);
    else if (name === 'img') this.#lines.words(attributes.alt ?? '');
    else if (name === 'br') preformatted.isOpen ? preformatted.write('\n') : this.#lines.end(1);
    else if (name === 'hr') this.#blocks.rule();
    else if (!preformatted.isOpen && this.#tables.open(name)) return;
    else if (Blocks.has(name)) this.#blocks.open(name);
    else if (this.#isMarkdown && InlineMarks.has(name)) this.#marks.open(name, attributes, this.#base);
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
}

const hiddenElements: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe']);

function baseOf({ href }: Attributes, base: URL): URL {
  if (href === undefined || !URL.canParse(href, base.href)) return base;
  const url = new URL(href, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : base;
}
