import { bytesToCharacters } from './percent-bytes.ts';

/** Unescaped text that maps each character to its position in the original. */
export interface Unescaped {
  readonly text: string;
  originOf(index: number): number;
}

/** A URL inside a URL is encoded twice, as is a JSON text inside a JSON string. */
const rounds = 2;

/** The text after one round of unescaping and after the next. Empty if nothing is escaped. */
export function unescapings(text: string): readonly Unescaped[] {
  if (!mayHoldEscapes(text)) return [];
  const all: Unescaped[] = [];
  let last: Unescaped = { text, originOf: (index) => index };
  while (all.length < rounds && mayHoldEscapes(last.text)) {
    const outer = last;
    const inner = unescapedOnce(outer.text);
    last = { text: inner.text, originOf: (index) => outer.originOf(inner.originOf(index)) };
    all.push(last);
  }
  return all;
}

/** This runs before every sink, so it searches for single characters first, which is fastest. */
function mayHoldEscapes(text: string): boolean {
  if (text.includes('%') && /%(?:u|[\da-fA-F]{2})/.test(text)) return true;
  // Escaped line breaks and quotes alone do not count: known values are also searched in that spelling.
  return text.includes('\\') && /\\[ux/]/.test(text);
}

/**
 * Percent-encoding and the escapes of JSON and JavaScript, with hex digits in either case. An escape that was cut off
 * before an ellipsis stands for nothing.
 */
const escapes =
  /(?:%[\da-fA-F]{2})+|%u[\da-fA-F]{4}|\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|["\\/bfnrt])|(?:%u?[\da-fA-F]{0,3}|\\[ux]?[\da-fA-F]{0,3})(?=…)/g;

const named: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Unescapes one round, even if only a line break or a quote is escaped. */
export function unescapedOnce(text: string): Unescaped {
  /** The start of each segment in the result, and its position in the original. */
  const [begins, origins]: [number[], number[]] = [[0], [0]];
  let plain = '';
  let at = 0;
  const add = (part: string, origin: number): void => {
    begins.push(plain.length);
    origins.push(origin);
    plain += part;
  };
  for (const { 0: found, index } of text.matchAll(escapes)) {
    if (index > at) add(text.slice(at, index), at);
    at = index + found.length;
    if (/^%[\da-fA-F]{2}/.test(found)) {
      const cut = /^(?:%[\da-fA-F]?)?…/.test(text.slice(at, at + 3));
      bytesToCharacters(found, cut, (part, offset) => add(part, index + offset));
    } else add(characterOf(found), index);
  }
  add(text.slice(at), at);
  return { text: plain, originOf: (index) => originIn(begins, origins, index) };
}

function characterOf(found: string): string {
  if (/^(?:[%\\]u[\da-fA-F]{4}|\\x[\da-fA-F]{2})$/.test(found))
    return String.fromCharCode(Number.parseInt(found.slice(2), 16));
  return /^\\["\\/bfnrt]$/.test(found) ? (named[found.charAt(1)] ?? found.charAt(1)) : '';
}

/** Binary search for the last segment that begins at or before the index. */
function originIn(begins: readonly number[], origins: readonly number[], index: number): number {
  let [low, high] = [0, begins.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((begins[middle] ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return (origins[low] ?? 0) + index - (begins[low] ?? 0);
}
