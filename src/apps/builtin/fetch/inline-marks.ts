import type { Attributes } from './elements.ts';
import type { Lines } from './page-lines.ts';

/** Longer links are left out, and a longer base resolves none. */
export const maxUrlChars = 2048;

/** Writes emphasis, code and links as Markdown. */
export class InlineMarks {
  readonly #lines: Lines;
  /** How many elements of each mark are open; only the outermost writes it. */
  readonly #counts = new Map<string, number>();

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  static has(name: string): boolean {
    return name === 'a' || markOf.has(name);
  }

  open(name: string, { href }: Attributes, base: string | undefined): void {
    if (name === 'a') {
      const url = href === undefined ? undefined : linkTo(href, base);
      this.#lines.unmark('link');
      if (url !== undefined) this.#lines.mark({ name: 'link', begin: '[', end: `](${url})` });
      return;
    }
    const mark = markOf.get(name) ?? '';
    const count = this.#counts.get(mark) ?? 0;
    this.#counts.set(mark, count + 1);
    if (count === 0) this.#lines.mark({ name: mark, begin: mark, end: mark });
  }

  close(name: string): void {
    if (name === 'a') {
      this.#lines.unmark('link');
      return;
    }
    const mark = markOf.get(name) ?? '';
    const count = this.#counts.get(mark) ?? 0;
    this.#counts.set(mark, count - 1);
    if (count === 1) this.#lines.unmark(mark);
  }
}

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

/** Undefined for links within the page and for other schemes than http, https and mailto. */
function linkTo(href: string, base: string | undefined): string | undefined {
  const written = href.trim();
  if (written === '' || written.startsWith('#') || !URL.canParse(written, base)) return undefined;
  const url = new URL(written, base);
  if (!['http:', 'https:', 'mailto:'].includes(url.protocol) || url.href.length > maxUrlChars) return undefined;
  return url.href.replaceAll('(', '%28').replaceAll(')', '%29');
}
