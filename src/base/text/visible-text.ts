/**
 * Text from servers and tools is untrusted: a control sequence in it could rewrite what the
 * operator sees, and characters
 * that change the direction of a line or have no width could make one name look like another. Newlines and tabs stay.
 * Control characters become their pictures, the others escapes.
 */
export function printable(text: string): string {
  return text.replace(unseen, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code < 0xa0 ? '\u2421' : escaped(character);
  });
}

/** The same on one line, for tables. */
export function printableLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

/**
 * The last filter before a line is written, wherever it comes from: only newlines, tabs and
 * our own colours pass. The rest
 * is escaped as in JSON, so that a line of JSON keeps its value.
 */
export function safeLine(line: string): string {
  return line.replace(invisibleOrColour, (found) => (found.endsWith('m') ? found : escaped(found)));
}

/**
 * Control characters except tab and newline; formatting (direction, zero width, tags); line and paragraph separators;
 * other invisible characters; variation selectors that no font has.
 */
const invisibleClass =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\p{Cf}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u3164\\uffa0\\u{e0100}-\\u{e01ef}]';
const unseen = new RegExp(invisibleClass, 'gu');
const invisibleOrColour = new RegExp(`\\u001b\\[\\d{1,2}m|${invisibleClass}`, 'gu');

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
