import type { BoundedText } from './bounded-text.ts';
import type { Attributes, PageWriter } from './elements.ts';
import { type Container, createLines } from './lines.ts';
import { createTables } from './tables.ts';

export type Style = 'markdown' | 'text';

export interface WrittenPage extends PageWriter {
  title(): string;
}

export interface WriterOptions {
  readonly style: Style;
  /** What links are relative to. */
  readonly base: URL;
  /** Around preformatted text. */
  readonly fence: string;
}

const maxTitleChars = 300;
const maxUrlChars = 2048;

/** Writes a page as Markdown, or without any marks. Text is not escaped: those who read it are no Markdown processors. */
export function createPageWriter(output: BoundedText, options: WriterOptions): WrittenPage {
  const isMarkdown = options.style === 'markdown';
  const lines = createLines(output);
  const tables = createTables(lines, isMarkdown);
  let base = options.base;
  let title = '';
  let titles = 0;
  /** Elements under way of those that are not shown, preformatted ones, and of each mark. */
  let dropped = 0;
  let preformatted = 0;
  let isFenced = false;
  let language = '';
  const marks = new Map<string, number>();
  const lists: { isOrdered: boolean; items: number; container: Container }[] = [];

  /** A list within a list stays close to its item. */
  function distanceOf(block: string): 1 | 2 {
    const isInner = lists.length > 0 && (block === 'ul' || block === 'ol');
    return paragraphs.has(block) && !isInner ? 2 : 1;
  }

  function openBlock(name: string): void {
    if (breaking.has(name)) tables.giveUp();
    lines.end(distanceOf(name));
    const level = headings.indexOf(name) + 1;
    if (level > 0 && isMarkdown) lines.lead(`${'#'.repeat(level)} `);
    if (name === 'blockquote') lines.enter(isMarkdown ? { first: '> ', rest: '> ' } : { first: '', rest: '' });
    if (name === 'ul' || name === 'ol') {
      const container = { first: '', rest: '' };
      lists.push({ isOrdered: name === 'ol', items: 0, container });
      lines.enter(container);
    }
    if (name === 'li') openItem();
    if (name === 'pre') preformatted++;
  }

  function openItem(): void {
    const list = lists.at(-1);
    if (list === undefined) {
      lines.lead('- ');
      return;
    }
    list.items++;
    list.container.first = list.isOrdered ? `${list.items}. ` : '- ';
    list.container.rest = ' '.repeat(list.container.first.length);
  }

  function closeBlock(name: string): void {
    if (name === 'pre') closePreformatted();
    if (headings.includes(name)) lines.lead('');
    if (name === 'blockquote' || name === 'ul' || name === 'ol') lines.leave();
    if (name === 'ul' || name === 'ol') lists.pop();
    lines.end(distanceOf(name));
  }

  function closePreformatted(): void {
    preformatted--;
    if (preformatted > 0) return;
    if (isFenced) lines.line(options.fence);
    isFenced = false;
    language = '';
  }

  function writePreformatted(text: string): void {
    if (isMarkdown && !isFenced) {
      if (text.trim() === '') return;
      lines.line(`${options.fence}${language}`);
      isFenced = true;
      lines.verbatim(text.replace(/^\r?\n/, ''));
    } else lines.verbatim(text);
  }

  function openMark(name: string, { href }: Attributes): void {
    if (name === 'a') {
      const url = href === undefined ? undefined : linkTo(href, base);
      lines.unmark('link');
      if (url !== undefined) lines.mark({ name: 'link', begin: '[', end: `](${url})` });
      return;
    }
    const mark = markOf.get(name) ?? '';
    const count = marks.get(mark) ?? 0;
    marks.set(mark, count + 1);
    if (count === 0) lines.mark({ name: mark, begin: mark, end: mark });
  }

  function closeMark(name: string): void {
    if (name === 'a') {
      lines.unmark('link');
      return;
    }
    const mark = markOf.get(name) ?? '';
    const count = marks.get(mark) ?? 0;
    marks.set(mark, count - 1);
    if (count === 1) lines.unmark(mark);
  }

  return {
    title: () => title.replace(/\s+/g, ' ').trim(),
    open(name, attributes) {
      if (hidden.has(name)) dropped++;
      if (dropped > 0) return;
      if (name === 'title') titles++;
      else if (name === 'base') base = baseOf(attributes, base);
      else if (name === 'img') lines.words(attributes.alt ?? '');
      else if (name === 'br') preformatted > 0 ? writePreformatted('\n') : lines.end(1);
      else if (name === 'hr') rule();
      else if (preformatted === 0 && tables.open(name)) return;
      else if (paragraphs.has(name) || blocks.has(name)) openBlock(name);
      else if (isMarkdown && (name === 'a' || markOf.has(name))) openMark(name, attributes);
      if (preformatted > 0 && !isFenced) language = languageOf(attributes) ?? language;
    },
    close(name) {
      if (hidden.has(name)) dropped--;
      else if (dropped > 0) return;
      else if (name === 'title') titles--;
      else if (preformatted === 0 && tables.close(name)) return;
      else if (paragraphs.has(name) || blocks.has(name)) closeBlock(name);
      else if (isMarkdown && (name === 'a' || markOf.has(name))) closeMark(name);
    },
    text(text) {
      if (dropped > 0) return;
      if (titles > 0) title += text.slice(0, maxTitleChars - title.length);
      else if (preformatted > 0) writePreformatted(text);
      else lines.words(text);
      tables.look();
    },
  };

  function rule(): void {
    tables.giveUp();
    lines.end(2);
    if (isMarkdown) lines.line('---');
    lines.end(2);
  }
}

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));

const hidden = setOf('script style noscript template svg iframe');
const headings: readonly string[] = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
/** An empty line stands around these. */
const paragraphs = setOf(
  'p h1 h2 h3 h4 h5 h6 ul ol dl pre blockquote article aside section header footer main nav form fieldset figure',
);
const blocks = setOf('div li dt dd address figcaption legend summary details option body html center textarea button');
/** A table with one of these in a cell is there for its looks. */
const breaking = setOf('h1 h2 h3 h4 h5 h6 pre blockquote');

const markOf: ReadonlyMap<string, string> = new Map([
  ['b', '**'],
  ['strong', '**'],
  ['i', '*'],
  ['em', '*'],
  ['del', '~~'],
  ['s', '~~'],
  ['code', '`'],
  ['kbd', '`'],
  ['samp', '`'],
]);

/** Undefined for what leads nowhere but to this page or a program. */
function linkTo(href: string, base: URL): string | undefined {
  const written = href.trim();
  if (written === '' || written.startsWith('#') || !URL.canParse(written, base.href)) return undefined;
  const url = new URL(written, base);
  if (!['http:', 'https:', 'mailto:'].includes(url.protocol) || url.href.length > maxUrlChars) return undefined;
  return url.href.replaceAll('(', '%28').replaceAll(')', '%29');
}

function baseOf({ href }: Attributes, base: URL): URL {
  if (href === undefined || !URL.canParse(href, base.href)) return base;
  const url = new URL(href, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : base;
}

function languageOf({ class: names }: Attributes): string | undefined {
  return /(?:^|\s)lang(?:uage)?-([\w+#-]{1,20})/.exec(names ?? '')?.[1];
}
