import type { BoundedText } from './bounded-text.ts';
import { type Mark, Marks } from './marks.ts';

/** Writes text as lines inside quotes and lists. Writes nothing until there is content. */
export interface Lines {
  /** Collapses white space to single spaces. */
  words(text: string): void;
  /** Keeps white space. Lines after the first get the prefixes of the open containers. */
  verbatim(text: string): void;
  /** Writes one complete line. */
  line(text: string): void;
  /** The next text starts on a new line, or after an empty one. */
  end(lines: 1 | 2): void;
  /** Starts the next line with this text, once. */
  lead(text: string): void;
  enter(container: Container): void;
  leave(): void;
  mark(mark: Mark): void;
  unmark(name: string): void;
  /** Collects text from here on instead of writing it; lines do not end in it. */
  capture(): void;
  /** Stops collecting and returns the text; undefined if nothing was being collected. */
  release(): string | undefined;
  readonly capturedLength: number;
}

/** A quote or a list. In a list item, `first` prefixes the first line and `rest` those below. */
export interface Container {
  first: string;
  rest: string;
}

/** Deeper containers are ignored; otherwise a short page could produce endless lines. */
const maxContainers = 8;
/** In preformatted text, in a row. */
const maxEmptyLines = 100;

export function createLines(output: BoundedText): Lines {
  return new OutputLines(output);
}

class OutputLines implements Lines {
  readonly #output: BoundedText;
  readonly #containers: Container[] = [];
  readonly #marks = new Marks((text) => this.#put(text));
  /** Starts the next line, once. */
  #leading = '';
  #isOnLine = false;
  /** Line breaks to write before the next text. */
  #owed = 0;
  #hasSpace = false;
  #lastRest = '';
  /** The text collected since `capture`. */
  #captured: string | undefined;

  constructor(output: BoundedText) {
    this.#output = output;
  }

  get capturedLength(): number {
    return this.#captured?.length ?? 0;
  }

  words(text: string): void {
    const words = text.replace(/[ \t\n\f\r\u00a0]+/g, ' ');
    const inner = words.trim();
    if (words.startsWith(' ')) this.#hasSpace = true;
    if (inner === '') return;
    this.#begin();
    this.#put(inner);
    this.#hasSpace = words.endsWith(' ');
  }

  verbatim(text: string): void {
    const newLine = `\n${this.#rest()}`;
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0 && this.#owed <= maxEmptyLines) this.#owed++;
      if (line === '' || this.#output.isFull) continue;
      if (!this.#isOnLine) this.#startLine();
      for (; this.#owed > 0 && !this.#output.isFull; this.#owed--) this.#put(newLine);
      this.#put(line);
    }
  }

  line(text: string): void {
    this.end(1);
    this.#startLine();
    this.#put(text);
    this.end(1);
  }

  end(lines: 1 | 2): void {
    if (this.#captured !== undefined) {
      this.#hasSpace = true;
      return;
    }
    this.#marks.suspend();
    this.#hasSpace = false;
    this.#owed = Math.max(Math.min(this.#owed, 2), lines);
    this.#isOnLine = false;
  }

  lead(text: string): void {
    if (this.#captured === undefined) this.#leading = text;
  }

  enter(container: Container): void {
    this.#containers.push(container);
  }

  leave(): void {
    this.#containers.pop();
  }

  mark(mark: Mark): void {
    this.#marks.add(mark);
  }

  unmark(name: string): void {
    this.#marks.remove(name);
  }

  capture(): void {
    this.#marks.suspend();
    this.#captured = '';
    this.#hasSpace = false;
  }

  release(): string | undefined {
    if (this.#captured !== undefined) this.#marks.suspend();
    const text = this.#captured;
    this.#captured = undefined;
    this.#hasSpace = false;
    return text;
  }

  #put(text: string): void {
    if (this.#captured === undefined) this.#output.add(text);
    else this.#captured += text;
  }

  #begin(): void {
    if (this.#captured === undefined && !this.#isOnLine) this.#startLine();
    else if (this.#hasSpace && this.#captured !== '') this.#put(' ');
    this.#hasSpace = false;
    this.#marks.begin();
  }

  #startLine(): void {
    const rest = this.#rest();
    const blank = (rest.length < this.#lastRest.length ? rest : this.#lastRest).trimEnd();
    if (this.#output.length > 0) {
      this.#put('\n');
      for (let more = 1; more < this.#owed; more++) this.#put(`${blank}\n`);
    }
    for (const each of this.#containers.slice(0, maxContainers)) {
      this.#put(each.first === '' ? each.rest : each.first);
      each.first = '';
    }
    this.#put(this.#leading);
    this.#leading = '';
    this.#lastRest = rest;
    this.#owed = 0;
    this.#isOnLine = true;
  }

  /** The prefix of lines after the first in the open containers. */
  #rest(): string {
    return this.#containers.slice(0, maxContainers).reduce((prefix, each) => prefix + each.rest, '');
  }
}
