/**
 * JSON with its comments replaced by blanks, so that every position stays where it was. What is left is
 * YAML, commas before a closing bracket included: one parser finds places in both.
 */
export function blankComments(text: string): string {
  return text.replace(stringOrComment, (found) => (found.startsWith('"') ? found : found.replace(/[^\r\n]/g, ' ')));
}

/**
 * A string first: what looks like a comment inside one is none. A string ends with its line and a comment with the text, closed
 * or not: otherwise every quote in them would be tried anew.
 */
const stringOrComment = /"(?:[^"\\\r\n]|\\.)*"?|\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
