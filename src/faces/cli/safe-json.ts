/**
 * JSON on one line, with every control character as an escape: JSON itself lets those after DEL stand, and some terminals
 * obey them.
 */
export function safeJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.replace(/[\u007f-\u009f]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}
