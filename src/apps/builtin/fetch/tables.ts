import type { Lines } from './lines.ts';

/** Tables, row by row as they come. */
export interface Tables {
  /** Whether the element is a table's business. */
  open(name: string): boolean;
  close(name: string): boolean;
  /** The table around here is there for its looks: its cells become paragraphs. */
  giveUp(): void;
  /** To be called after text: a cell may have grown too large to be one. */
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
  const stack: Table[] = [];

  function giveUp(): void {
    const table = stack.at(-1);
    if (table === undefined || table.isForLooks) return;
    const cell = lines.release();
    table.isForLooks = true;
    for (const each of [...table.row, cell ?? '']) if (each !== '') lines.line(each);
    table.row = [];
  }

  function endCell(table: Table): void {
    const cell = lines.release();
    if (cell !== undefined) table.row.push(isMarkdown ? cell.replaceAll('|', '\\|') : cell);
    if (table.row.length > maxCells) giveUp();
    if (table.isForLooks) lines.end(1);
  }

  function endRow(table: Table): void {
    endCell(table);
    const { row } = table;
    table.row = [];
    if (row.every((cell) => cell === '')) return;
    if (!isMarkdown || (row.length === 1 && !table.hasHead)) {
      lines.line(row.join('\t'));
      return;
    }
    lines.line(`| ${row.join(' | ')} |`);
    if (!table.hasHead) lines.line(`|${' --- |'.repeat(row.length)}`);
    table.hasHead = true;
  }

  return {
    open(name) {
      if (!parts.has(name)) return false;
      if (name === 'table') {
        giveUp();
        lines.end(2);
        stack.push({ isForLooks: false, hasHead: false, row: [] });
        return true;
      }
      const table = stack.at(-1);
      if (table === undefined) lines.end(1);
      else if (name === 'tr') endRow(table);
      else if (name === 'td' || name === 'th') {
        endCell(table);
        if (!table.isForLooks) lines.hold();
      } else lines.end(1);
      return true;
    },
    close(name) {
      if (!parts.has(name)) return false;
      const table = stack.at(-1);
      if (table === undefined || name === 'caption') lines.end(1);
      else if (name === 'td' || name === 'th') endCell(table);
      else endRow(table);
      if (name === 'table') {
        stack.pop();
        lines.end(2);
      }
      return true;
    },
    giveUp,
    look() {
      if (lines.held > maxCellChars) giveUp();
    },
  };
}

const parts: ReadonlySet<string> = new Set('table caption colgroup thead tbody tfoot tr td th'.split(' '));
