import type { Colours } from './colours.ts';

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly paint?: (text: string, row: Row) => string;
  readonly right?: boolean;
}

/** Renders a table without rules. Only the last column is cut to the width. */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: { readonly colours: Colours; readonly width?: number | undefined; readonly titles?: boolean },
): string[] {
  const { colours, width, titles = true } = options;
  const texts = rows.map((row) => columns.map((column) => column.text(row)));
  const widths = columns.map(({ title }, index) =>
    Math.max(titles ? title.length : 0, ...texts.map((cells) => cells[index]?.length ?? 0)),
  );
  const room = (index: number): number => {
    const before = widths.slice(0, index).reduce((sum, each) => sum + each + 2, 0);
    return width === undefined ? Number.POSITIVE_INFINITY : Math.max(10, width - before);
  };
  const line = (cells: readonly string[], paint: (text: string, index: number) => string): string =>
    cells
      .map((cell, index) => {
        if (index === cells.length - 1) return paint(cutCell(cell, room(index)), index);
        const gap = ' '.repeat(Math.max(0, (widths[index] ?? 0) - cell.length));
        return columns[index]?.right === true ? gap + paint(cell, index) : paint(cell, index) + gap;
      })
      .join('  ')
      .trimEnd();
  const head = titles
    ? [
        line(
          columns.map(({ title }) => title),
          (text) => colours.dim(text),
        ),
      ]
    : [];
  const body = rows.map((row, at) =>
    line(texts[at] ?? [], (text, index) => columns[index]?.paint?.(text, row) ?? text),
  );
  return [...head, ...body];
}

export function cutCell(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}…`;
}
