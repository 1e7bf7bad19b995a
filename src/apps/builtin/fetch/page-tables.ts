import type { Lines } from './page-lines.ts';

/** Writes tables row by row. */
export interface Tables {
  /** Returns whether the element is part of a table. */
  open(name: string): boolean;
  close(name: string): boolean;
  /** Treats the current table as a layout table: its cells become paragraphs. */
  giveUp(): void;
  /** Call after each text: a cell may have grown too large for a table. */
  look(): void;
}

interface Table {
  isForLooks: boolean;
  hasHead: boolean;
  row: string[];
}

const maxCellChars = 2000;
const maxCells = 100;

export function createTables(lines: Lines, isMarkdown: boolean): Tables {
  return new OpenTables(lines, isMarkdown);
}

class OpenTables implements Tables {
  readonly #lines: Lines;
  readonly #isMarkdown: boolean;
  readonly #stack: Table[] = [];

  constructor(lines: Lines, isMarkdown: boolean) {
    this.#lines = lines;
    this.#isMarkdown = isMarkdown;
  }

  open(name: string): boolean {
    if (!parts.has(name)) return false;
    const table = this.#stack.at(-1);
    if (name === 'table') this.#openTable();
    else if (table === undefined) this.#lines.end(1);
    else if (name === 'tr') this.#endRow(table);
    else if (name === 'td' || name === 'th') {
      this.#endCell(table);
      if (!table.isForLooks) this.#lines.capture();
    } else this.#lines.end(1);
    return true;
  }

  close(name: string): boolean {
    if (!parts.has(name)) return false;
    const table = this.#stack.at(-1);
    if (table === undefined || name === 'caption') this.#lines.end(1);
    else if (name === 'td' || name === 'th') this.#endCell(table);
    else this.#endRow(table);
    if (name === 'table') {
      this.#stack.pop();
      this.#lines.end(2);
    }
    return true;
  }

  giveUp(): void {
    const table = this.#stack.at(-1);
    if (table === undefined || table.isForLooks) return;
    const cell = this.#lines.release();
    table.isForLooks = true;
    for (const each of [...table.row, cell ?? '']) if (each !== '') this.#lines.line(each);
    table.row = [];
  }

  look(): void {
    if (this.#lines.capturedLength > maxCellChars) this.giveUp();
  }

  #openTable(): void {
    this.giveUp();
    this.#lines.end(2);
    this.#stack.push({ isForLooks: false, hasHead: false, row: [] });
  }

  #endCell(table: Table): void {
    const cell = this.#lines.release();
    if (cell !== undefined) table.row.push(this.#isMarkdown ? cell.replaceAll('|', '\\|') : cell);
    if (table.row.length > maxCells) this.giveUp();
    if (table.isForLooks) this.#lines.end(1);
  }

  #endRow(table: Table): void {
    this.#endCell(table);
    const { row } = table;
    table.row = [];
    if (row.every((cell) => cell === '')) return;
    if (!this.#isMarkdown || (row.length === 1 && !table.hasHead)) {
      this.#lines.line(row.join('\t'));
      return;
    }
    this.#lines.line(`| ${row.join(' | ')} |`);
    if (!table.hasHead) this.#lines.line(`|${' --- |'.repeat(row.length)}`);
    table.hasHead = true;
  }
}

const parts: ReadonlySet<string> = new Set('table caption colgroup thead tbody tfoot tr td th'.split(' '));
