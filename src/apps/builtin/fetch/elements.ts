import type { Tokenizer } from 'htmlparser2';

/** Where the elements of a page go, in the order of the page. */
export interface PageWriter {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  text(text: string): void;
}

/** Those that writers care for. */
export type Attributes = Readonly<Partial<Record<'href' | 'alt' | 'class', string>>>;

type TokenEvents = ConstructorParameters<typeof Tokenizer>[1];

/** A page may open as many elements as it has bytes; deeper ones end the one they stand in. */
export const maxDepth = 256;
const maxNameChars = 32;
const maxValueChars = 2048;

/**
 * Makes elements of a tokenizer's events. The parser that comes with the tokenizer looks through all open elements for each
 * tag, which a hostile page makes quadratic; here their number is bounded, and each tag costs what it closes.
 */
export function createElementReader(html: string, writer: PageWriter): TokenEvents {
  const stack: string[] = [];
  /** How often each name is on the stack, so that a tag which closes nothing costs nothing. */
  const opened = new Map<string, number>();
  let name = '';
  let attributes: Partial<Record<string, string>> = {};
  /** The attribute under way, if it is one that somebody wants. */
  let attribute: string | undefined;
  let value = '';

  function pop(): void {
    const top = stack.pop() ?? '';
    const others = (opened.get(top) ?? 0) - 1;
    if (others > 0) opened.set(top, others);
    else opened.delete(top);
    writer.close(top);
  }

  function open(isClosed: boolean): void {
    const ended = endedBy.get(name);
    while (ended?.has(stack.at(-1) ?? '')) pop();
    if (stack.length === maxDepth) pop();
    writer.open(name, attributes);
    if (isClosed || voids.has(name)) {
      writer.close(name);
      return;
    }
    stack.push(name);
    opened.set(name, (opened.get(name) ?? 0) + 1);
  }

  function isInForeignContext(): boolean {
    return opened.has('svg') || opened.has('math');
  }

  function nameAt(start: number, end: number): string {
    return end - start > maxNameChars ? 'unknown' : html.slice(start, end).toLowerCase();
  }

  function addValue(text: string): void {
    if (attribute !== undefined && value.length < maxValueChars) value += text.slice(0, maxValueChars - value.length);
  }

  return {
    onopentagname(start, end) {
      name = nameAt(start, end);
      attributes = {};
    },
    onattribname(start, end) {
      const candidate = nameAt(start, end);
      attribute = wanted.has(candidate) && attributes[candidate] === undefined ? candidate : undefined;
      value = '';
    },
    onattribdata: (start, end) => addValue(html.slice(start, Math.min(end, start + maxValueChars))),
    onattribentity: (point) => addValue(String.fromCodePoint(point)),
    onattribend() {
      if (attribute !== undefined) attributes[attribute] = value;
    },
    onopentagend: () => open(false),
    onselfclosingtag: () => open(isInForeignContext()),
    onclosetag(start, end) {
      const closed = nameAt(start, end);
      if (!opened.has(closed)) return;
      while (stack.at(-1) !== closed) pop();
      pop();
    },
    ontext: (start, end) => writer.text(html.slice(start, end)),
    ontextentity: (point) => writer.text(String.fromCodePoint(point)),
    oncdata(start, end, offset) {
      if (isInForeignContext()) writer.text(html.slice(start, end - offset));
    },
    onend() {
      while (stack.length > 0) pop();
    },
    oncomment() {},
    ondeclaration() {},
    onprocessinginstruction() {},
    isInForeignContext,
  };
}

const wanted: ReadonlySet<string> = new Set(['href', 'alt', 'class']);

const voids: ReadonlySet<string> = new Set(
  'area base basefont br col embed frame hr img input link meta param source track wbr'.split(' '),
);

/** People leave out end tags; these begin where others end. */
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
