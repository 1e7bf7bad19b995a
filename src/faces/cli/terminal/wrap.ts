/**
 * Lines of at most `width` characters, broken between words. A longer word stays whole, and so does a command in
 * backticks, so that both can be copied. Colours take no room.
 */
export function wrap(text: string, width: number | undefined): string[] {
  if (width === undefined || shownLength(text) <= width) return [text];
  const lines: string[] = [];
  let [line, length] = ['', 0];
  for (const word of wordsOf(text)) {
    const more = shownLength(word);
    if (line !== '' && length + 1 + more > width) {
      lines.push(line.trimEnd());
      [line, length] = [word, more];
    } else {
      length = line === '' ? more : length + 1 + more;
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** The text after a mark, with further lines indented to its start. */
export function hang(mark: string, text: string, width: number | undefined): string[] {
  const room = width === undefined ? undefined : Math.max(16, width - mark.length);
  return wrap(text, room).map((line, index) => (index === 0 ? mark : ' '.repeat(mark.length)) + line);
}

/** A line as it is, or broken into several with the same indentation. */
export function wrapLine(line: string, width: number): string[] {
  const indent = /^ */.exec(line)?.[0] ?? '';
  return wrap(line.slice(indent.length), Math.max(16, width - indent.length)).map((part) => indent + part);
}

/** The characters of a line that are seen. */
export function shownLength(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours begin with it.
  return text.includes('\u001b') ? text.replace(/\u001b\[\d{1,2}m/g, '').length : text.length;
}

function wordsOf(text: string): readonly string[] {
  const plain = text.split(' ');
  const words: string[] = [];
  let isOpen = false;
  for (const piece of plain) {
    if (isOpen) words.push(`${words.pop() ?? ''} ${piece}`);
    else words.push(piece);
    if (piece.split('`').length % 2 === 0) isOpen = !isOpen;
  }
  // A backtick without its counterpart begins no command.
  return isOpen ? plain : words;
}
