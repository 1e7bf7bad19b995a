/** JSON as PostgreSQL wrote it, as a value. Numbers that would lose digits here become strings of all their digits. */
export function parseExactly(json: string): unknown {
  return JSON.parse(
    json.replace(stringOrNumber, (token) => (token[0] === '"' || isExact(token) ? token : `"${token}"`)),
  );
}

/** A string that does not end is one to the end of the text: otherwise every quote in it would be tried anew. */
const stringOrNumber = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A double holds every number of fifteen digits, between its extremes. */
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
