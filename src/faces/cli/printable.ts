/**
 * Text of servers and tools is not ours: a control sequence in it could rewrite what the operator sees, and characters that
 * turn the direction of a line or have no width could make one name look like another. New lines and tabs stay; control
 * characters are shown as their pictures, the others as escapes.
 */
export function printable(text: string): string {
  return text.replace(unseen, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code < 0xa0 ? '\u2421' : escaped(character);
  });
}

/** The same as one line, for tables. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

/**
 * The last look at a line before it is written, whoever made it: only new lines, tabs and our own colours pass. What does not
 * is escaped as JSON does it, so that a line of JSON stays the same value.
 */
export function safeLine(line: string): string {
  return line.replace(unseenOrColour, (found) => (found.endsWith('m') ? found : escaped(found)));
}

/**
 * Controls but tab and new line; formatting (direction, zero width, tags); line and paragraph separators; other characters that
 * leave no mark; selectors of variants that no font has.
 */
const unseenClass =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\p{Cf}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u3164\\uffa0\\u{e0100}-\\u{e01ef}]';
const unseen = new RegExp(unseenClass, 'gu');
const unseenOrColour = new RegExp(`\\u001b\\[\\d{1,2}m|${unseenClass}`, 'gu');

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
