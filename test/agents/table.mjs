/** A Markdown table with aligned columns. */
export function formatTable(head, rows) {
  const lines = [head, head.map(() => ''), ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(3, ...lines.map((line) => line[column].length)));
  const line = (cells, fill) => `| ${cells.map((cell, column) => cell.padEnd(widths[column], fill)).join(' | ')} |`;
  return lines.map((cells, index) => line(cells, index === 1 ? '-' : ' ')).join('\n');
}
