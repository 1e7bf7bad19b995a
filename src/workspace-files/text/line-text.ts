/** The line ending of a text, taken from its first line. */
export function eolOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

export function splice(text: string, from: number, to: number, insert: string): string {
  return text.slice(0, from) + insert + text.slice(to);
}

/** The white space at the start of the line that contains `offset`. */
export function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Whether nothing but white space precedes `offset` in its line. */
export function startsLine(text: string, offset: number): boolean {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1) === indentAt(text, offset).length;
}

/** Inserts after the line that contains `offset`. The end of a block scalar is already past its last line. */
export function insertLines(text: string, offset: number, lines: readonly string[]): string {
  const eol = eolOf(text);
  const block = lines.map((line) => line + eol).join('');
  if (offset === 0 || text[offset - 1] === '\n') return splice(text, offset, offset, block);
  const newLine = text.indexOf('\n', offset);
  return newLine < 0 ? `${text}${eol}${block}` : splice(text, newLine + 1, newLine + 1, block);
}

/** Removes the lines from the one that contains `from` to the one that contains `to`. */
export function removeLines(text: string, from: number, to: number): string {
  const start = text.lastIndexOf('\n', from - 1) + 1;
  if (to > start && text[to - 1] === '\n') return splice(text, start, to, '');
  const newLine = text.indexOf('\n', to);
  return newLine < 0 ? text.slice(0, start) : splice(text, start, newLine + 1, '');
}

export function indentLines(lines: readonly string[], columns: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(columns) + line));
}
