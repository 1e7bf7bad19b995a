/** Lines of at most `width` characters, broken between words. A longer word stays whole, so that it can be copied. */
export function wrap(text: string, width: number | undefined): string[] {
  if (width === undefined || text.length <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && longer.length > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** The text after a mark, with further lines indented to its start. */
export function hang(mark: string, text: string, width: number | undefined): string[] {
  const room = width === undefined ? undefined : Math.max(16, width - mark.length);
  return wrap(text, room).map((line, index) => (index === 0 ? mark : ' '.repeat(mark.length)) + line);
}
