import type { Tokenizer } from 'htmlparser2';
import { OpenElements } from './open-elements.ts';

/** Receives the elements of a page in document order. */
export interface PageWriter {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  text(text: string): void;
}

/** The attributes that writers use. */
export type Attributes = Readonly<Partial<Record<'href' | 'alt' | 'class', string>>>;

type TokenEvents = ConstructorParameters<typeof Tokenizer>[1];

const maxNameChars = 32;
const maxValueChars = 2048;

/** Builds elements from a tokenizer's events. */
export function createElementReader(html: string, writer: PageWriter): TokenEvents {
  return new ElementReader(html, writer);
}

class ElementReader implements TokenEvents {
  readonly #html: string;
  readonly #writer: PageWriter;
  readonly #elements: OpenElements;
  /** The start tag being read. */
  #name = '';
  #attributes: Partial<Record<string, string>> = {};
  /** The attribute being read, if a writer uses it. */
  #attribute: string | undefined;
  #value = '';

  constructor(html: string, writer: PageWriter) {
    this.#html = html;
    this.#writer = writer;
    this.#elements = new OpenElements(writer);
  }

  isInForeignContext(): boolean {
    return this.#elements.isInForeignContext;
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#nameAt(start, end);
    this.#attributes = {};
  }

  onattribname(start: number, end: number): void {
    const name = this.#nameAt(start, end);
    this.#attribute = wanted.has(name) && this.#attributes[name] === undefined ? name : undefined;
    this.#value = '';
  }

  onattribdata(start: number, end: number): void {
    this.#addValue(this.#html.slice(start, Math.min(end, start + maxValueChars)));
  }

  onattribentity(point: number): void {
    this.#addValue(String.fromCodePoint(point));
  }

  onattribend(): void {
    if (this.#attribute !== undefined) this.#attributes[this.#attribute] = this.#value;
  }

  onopentagend(): void {
    this.#elements.open(this.#name, this.#attributes, false);
  }

  onselfclosingtag(): void {
    this.#elements.open(this.#name, this.#attributes, this.#elements.isInForeignContext);
  }

  onclosetag(start: number, end: number): void {
    this.#elements.close(this.#nameAt(start, end));
  }

  ontext(start: number, end: number): void {
    this.#writer.text(this.#html.slice(start, end));
  }

  ontextentity(point: number): void {
    this.#writer.text(String.fromCodePoint(point));
  }

  oncdata(start: number, end: number, offset: number): void {
    if (this.#elements.isInForeignContext) this.#writer.text(this.#html.slice(start, end - offset));
  }

  onend(): void {
    this.#elements.closeAll();
  }

  oncomment(): void {}

  ondeclaration(): void {}

  onprocessinginstruction(): void {}

  #nameAt(start: number, end: number): string {
    return end - start > maxNameChars ? 'unknown' : this.#html.slice(start, end).toLowerCase();
  }

  #addValue(text: string): void {
    if (this.#attribute === undefined || this.#value.length >= maxValueChars) return;
    this.#value += text.slice(0, maxValueChars - this.#value.length);
  }
}

const wanted: ReadonlySet<string> = new Set(['href', 'alt', 'class']);
