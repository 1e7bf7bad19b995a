import { type Column, cutCell, cutWords } from './table.ts';

/** A column that can shrink or disappear if there is little room. */
export interface FittingColumn<Row> extends Column<Row> {
  /** It may be left out; the highest number goes first. */
  readonly spare?: number;
  /** It may be cut to this many characters. */
  readonly least?: number;
}

export interface FittedColumn<Row> extends FittingColumn<Row> {
  readonly width: number;
}

/** Selects the columns that fit, given their preferred widths; cuts the texts of narrowed ones. */
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
  // The last columns shrink first, because the subject of a row comes first.
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

/** The width of each column with its full text. */
export function naturalWidths<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): number[] {
  return columns.map(({ title, text }) => rows.reduce((most, row) => Math.max(most, text(row).length), title.length));
}

const gap = 2;

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + gap, -gap);
}

function narrowed<Row>(column: FittedColumn<Row>, width: number): FittedColumn<Row> {
  return { ...column, width, title: cutCell(column.title, width), text: (row) => cutWords(column.text(row), width) };
}

/** A table does not pad its last column, so pad numbers here to align them. */
function aligned<Row>(column: FittedColumn<Row>): FittedColumn<Row> {
  if (column.right !== true) return column;
  const { width, title, text } = column;
  return { ...column, title: title.padStart(width), text: (row) => text(row).padStart(width) };
}
