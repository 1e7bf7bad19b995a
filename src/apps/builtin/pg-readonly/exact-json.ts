/** Parses JSON from PostgreSQL. Numbers that would lose digits become strings with all their digits. */
export function parseExactly(json: string): unknown {
  return JSON.parse(
    json.replace(stringOrNumber, (token) => (token[0] === '"' || isExact(token) ? token : `"${token}"`)),
  );
}

/** An unterminated string extends to the end of the text; otherwise every quote in it would start a new attempt. */
const stringOrNumber = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A double represents every number of up to fifteen digits, between its extremes. */
function isExact(token: string): boolean {
  const value = Number(token);
  if (String(value) === token) return true;
  const digits = token
    .replace(/[eE].*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  if (digits === '') return true;
  return digits.length <= 15 && Math.abs(value) < 1e300 && Math.abs(value) > 1e-300;
}
