/**
 * Text with the first column to the left and figures to the right.
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
export function table(head, rows) {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)));
  const line = (cells) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  ');
  return [line(head), line(widths.map((width) => '─'.repeat(width))), ...rows.map(line)].join('\n');
}

/** A figure with that many digits after the point; a dash where there is none. */
export function figure(value, digits = 0) {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

export function times(value) {
  return Number.isFinite(value) ? `${value.toFixed(2)}×` : '–';
}
