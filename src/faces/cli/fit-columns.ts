import { type Column, cut } from './table.ts';

/** A column that knows what becomes of it where there is little room. */
export interface FittingColumn<Row> extends Column<Row> {
  /** It may be left out; the highest number goes first. */
  readonly spare?: number;
  /** It may be cut to so many characters. */
  readonly least?: number;
}

export interface FittedColumn<Row> extends FittingColumn<Row> {
  readonly width: number;
}

/** The columns that fit into the room, given how wide each would like to be; the texts of narrowed ones are cut. */
export function fitColumns<Row>(
  columns: readonly FittingColumn<Row>[],
  widths: readonly number[],
  room = Number.POSITIVE_INFINITY,
): FittedColumn<Row>[] {
  const kept = columns.map((column, index) => ({ ...column, width: widths[index] ?? 0 }));
  while (total(kept.map(({ width, least = width }) => Math.min(width, least))) > room) {
    const most = Math.max(...kept.map(({ spare = 0 }) => spare));
    if (most === 0) break;
    kept.splice(
      kept.findIndex(({ spare }) => spare === most),
      1,
    );
  }
  let over = Math.max(0, total(kept.map(({ width }) => width)) - room);
  // The last columns give way first: what a row is about stands in front.
  const fitted = kept
    .toReversed()
    .map((column) => {
      const less = Math.max(0, Math.min(over, column.width - (column.least ?? column.width)));
      over -= less;
      return less === 0 ? column : narrowed(column, column.width - less);
    })
    .toReversed();
  return fitted.map((column, index) => (index === fitted.length - 1 ? aligned(column) : column));
}

/** How wide each would be with all its text. */
export function naturalWidths<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): number[] {
  return columns.map(({ title, text }) => rows.reduce((most, row) => Math.max(most, text(row).length), title.length));
}

const gap = 2;

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + gap, -gap);
}

function narrowed<Row>(column: FittedColumn<Row>, width: number): FittedColumn<Row> {
  return { ...column, width, title: cut(column.title, width), text: (row) => cut(column.text(row), width) };
}

/** A table leaves the last column as it is, for texts that are cut; numbers still end below each other. */
function aligned<Row>(column: FittedColumn<Row>): FittedColumn<Row> {
  if (column.right !== true) return column;
  const { width, title, text } = column;
  return { ...column, title: title.padStart(width), text: (row) => text(row).padStart(width) };
}
