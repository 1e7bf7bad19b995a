import { scanJson } from './scan-json.ts';

/** What the hub parses although it is large: nobody needs more than this. */
export const maxParsedLength: number = 4 * 1024 * 1024;
/** The same for its values, because small ones cost JSON.parse most. Twice for each key. */
export const maxParsedParts = 100_000;

/** Whether valid JSON can be parsed without holding the loop for long. */
export function isCheapToParse(json: string): boolean {
  if (json.length > maxParsedLength) return false;
  const options = { maxDepth: Number.MAX_SAFE_INTEGER, rejectRepeatedKeys: false, collectDepth: 0 };
  return scanJson(json, options).parts <= maxParsedParts;
}
