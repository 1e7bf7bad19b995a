/**
 * Replaces comments in JSON with blanks, so that all positions stay the same. The result is valid YAML, trailing commas
 * included, so one parser finds positions in both.
 */
export function blankComments(text: string): string {
  return text.replace(stringOrComment, (found) => (found.startsWith('"') ? found : found.replace(/[^\r\n]/g, ' ')));
}

/**
 * Strings come first, because a string may contain what looks like a comment. A string ends
 * at the end of its line and a
 * comment at the end of the text, even if unterminated; otherwise every quote in them would start a new attempt.
 */
const stringOrComment = /"(?:[^"\\\r\n]|\\.)*"?|\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
