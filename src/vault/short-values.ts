import { inJson } from './value-spellings.ts';

/** Values too short to search for everywhere. They are hidden where they stand alone. */
export interface ShortValues {
  holds(text: string): boolean;
  /** Takes the content of a JSON string, or a message. */
  hide(text: string, replacement: string): string;
  /** Whether the text is exactly one of the values. */
  isOne(text: string): boolean;
}

/** Values of at least this length are hidden as a word among others. Shorter ones only if they are the whole text. */
const shortestWord = 4;

export function createShortValues(values: readonly string[]): ShortValues {
  const whole = new Set(values);
  const asWords = patternOf(values.filter((value) => value.length >= shortestWord));
  // For JSON text, where quotes and backslashes are escaped.
  const anywhere = patternOf(values.flatMap((value) => [value, ...inJson(value)]));
  return {
    holds: (text) => anywhere !== undefined && text.search(anywhere) >= 0,
    hide(text, replacement) {
      if (whole.has(text)) return replacement;
      return asWords === undefined ? text : text.replace(asWords, replacement);
    },
    isOne: (text) => whole.has(text),
  };
}

function patternOf(values: readonly string[]): RegExp | undefined {
  if (values.length === 0) return undefined;
  // In descending order, a longer value comes before its own prefix.
  const falling = [...new Set(values)].sort((a, b) => (a < b ? 1 : -1));
  return new RegExp(falling.map(standingAlone).join('|'), 'gu');
}

function standingAlone(value: string): string {
  const literal = value.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return `${/^[\p{L}\p{N}_]/u.test(value) ? '(?<![\\p{L}\\p{N}_])' : ''}${literal}${/[\p{L}\p{N}_]$/u.test(value) ? '(?![\\p{L}\\p{N}_])' : ''}`;
}
