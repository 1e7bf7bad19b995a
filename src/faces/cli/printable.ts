/**
 * Text of servers and tools is not ours: a control sequence in it could rewrite what the operator
 * sees. New lines and tabs stay; other control characters are shown as their pictures.
 */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, pictureOf);
}

/** The same as one line, for tables. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

function pictureOf(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\u2421';
}
