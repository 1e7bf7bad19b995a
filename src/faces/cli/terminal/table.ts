import type { Colours } from './colours.ts';
import { hang, wrap } from './wrap.ts';

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly paint?: (text: string, row: Row) => string;
  readonly right?: boolean;
  /** The last column is cut to one line instead of wrapped. */
  readonly cut?: boolean;
}

export interface TableOptions {
  readonly colours: Colours;
  readonly width?: number | undefined;
  readonly titles?: boolean;
}

/** Less room than this makes a column of words unreadable. */
const leastRoom = 24;

/**
 * Renders a table without rules. No word is broken at the width: the last column is wrapped, or stands below its row if
 * there is little room, and if not even the others fit, each row becomes a paragraph.
 */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions,
): string[] {
  const { width, titles = true } = options;
  const widths = columns.map(({ title, text }) =>
    rows.reduce((most, row) => Math.max(most, text(row).length), titles ? title.length : 0),
  );
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + gap, 0);
  const last = widths.at(-1) ?? 0;
  if (width === undefined || before + Math.min(last, leastRoom) <= width) {
    return grid(rows, columns, { ...options, widths, room: width === undefined ? undefined : width - before });
  }
  const facts = columns.slice(0, -1);
  if (facts.length > 1 && before - gap <= width) return withLastBelow(rows, columns, { ...options, width, widths });
  return rows.flatMap((row) => paragraph(row, columns, { ...options, width }));
}

const gap = 2;

interface GridOptions extends TableOptions {
  readonly widths: readonly number[];
  /** Of the last column. */
  readonly room: number | undefined;
}

function grid<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: GridOptions): string[] {
  const { colours, titles = true } = options;
  const head = titles
    ? gridLine(
        columns.map(({ title }) => title),
        columns,
        options,
        (text) => colours.dim(text),
      )
    : [];
  return [
    ...head,
    ...rows.flatMap((row) =>
      gridLine(
        columns.map(({ text }) => text(row)),
        columns,
        options,
        (text, index) => columns[index]?.paint?.(text, row) ?? text,
      ),
    ),
  ];
}

/** Several lines if the last cell needs them. */
function gridLine<Row>(
  cells: readonly string[],
  columns: readonly Column<Row>[],
  { widths, room }: GridOptions,
  paint: (text: string, index: number) => string,
): string[] {
  const at = cells.length - 1;
  const before = cells.slice(0, -1).map((cell, index) => {
    const blanks = ' '.repeat(Math.max(0, (widths[index] ?? 0) - cell.length));
    return columns[index]?.right === true ? blanks + paint(cell, index) : paint(cell, index) + blanks;
  });
  const cell = cells[at] ?? '';
  const text = columns[at]?.right === true ? cell.padStart(widths[at] ?? 0) : cell;
  const [first = '', ...rest] = columns[at]?.cut === true ? [cutWords(text, room ?? text.length)] : wrap(text, room);
  const indent = ' '.repeat(widths.slice(0, -1).reduce((sum, each) => sum + each + gap, 0));
  return [
    [...before, paint(first, at)].join(' '.repeat(gap)).trimEnd(),
    ...rest.map((line) => indent + paint(line, at)),
  ];
}

function withLastBelow<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions & { readonly width: number; readonly widths: readonly number[] },
): string[] {
  const { width, widths, titles = true } = options;
  const [facts, last] = [columns.slice(0, -1), columns.at(-1)];
  const lines = grid(rows, facts, { ...options, widths: widths.slice(0, -1), room: undefined });
  const head = titles ? lines.slice(0, 1) : [];
  return [
    ...head,
    ...rows.flatMap((row, index) => {
      const text = last?.text(row) ?? '';
      const below = text === '' || text === '-' ? [] : hang('  ', text, width);
      return [lines[head.length + index] ?? '', ...below.map((line) => last?.paint?.(line, row) ?? line)];
    }),
  ];
}

/** `name`, and below it `state idle · transport stdio · …`, without empty cells. */
function paragraph<Row>(
  row: Row,
  [first, ...others]: readonly Column<Row>[],
  { width, titles = true }: TableOptions & { readonly width: number },
): string[] {
  const name = first?.text(row) ?? '';
  const facts = others.flatMap(({ title, text }) => {
    const cell = text(row);
    if (cell === '' || cell === '-') return [];
    return [titles ? `${title.toLowerCase()} ${cell}` : cell];
  });
  return [first?.paint?.(name, row) ?? name, ...(facts.length === 0 ? [] : hang('  ', facts.join(' · '), width))];
}

/** Cut at exactly this length. */
export function cutCell(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}…`;
}

/** Cut between words if that leaves enough of the text. */
export function cutWords(text: string, length: number): string {
  if (text.length <= length || text[length - 1] === ' ') return cutCell(text, length);
  const space = text.lastIndexOf(' ', length - 2);
  return space >= length * 0.4 ? `${text.slice(0, space)} …` : cutCell(text, length);
}
