/** A JSON object, as opposed to an array, null or a plain value. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The position after the closing quote of the JSON string that opens there, or -1 if it does not end. Jumps from quote to
 * quote, so that a long string is not looked at character by character.
 */
export function afterJsonString(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close >= 0; close = text.indexOf('"', close + 1)) {
    let slashes = close - 1;
    while (text.charCodeAt(slashes) === backslash) slashes--;
    // An even number of backslashes escape each other, not the quote.
    if (((close - slashes) & 1) === 1) return close + 1;
  }
  return -1;
}

const backslash = 92;
