import { bytesToCharacters } from './percent-bytes.ts';

/** A text without its escapes, and the place in the original at which each of its characters begins. */
export interface Unescaped {
  readonly text: string;
  originOf(index: number): number;
}

/** An address inside an address is encoded twice, a JSON text inside a JSON string as well. */
const rounds = 2;

/** The text as it reads after one round of unescaping, and after the next; none where nothing is escaped. */
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

/** It stands before every sink, so it looks for single characters first: that is the quickest of all searches. */
function mayHoldEscapes(text: string): boolean {
  if (text.includes('%') && /%(?:u|[\da-fA-F]{2})/.test(text)) return true;
  // Line breaks and quotes alone are no reason: known values are sought with them escaped as well.
  return text.includes('\\') && /\\[ux/]/.test(text);
}

/**
 * Percent encoding and the escapes of JSON and JavaScript, in either case of their digits. An escape that was cut off
 * before an ellipsis stands for nothing.
 */
const escapes =
  /(?:%[\da-fA-F]{2})+|%u[\da-fA-F]{4}|\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|["\\/bfnrt])|(?:%u?[\da-fA-F]{0,3}|\\[ux]?[\da-fA-F]{0,3})(?=…)/g;

const named: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** One round, also where only a line break or a quote is escaped. */
export function unescapedOnce(text: string): Unescaped {
  /** Beginnings of stretches in the result, and where each begins in the text. */
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

/** Half of what is left with each step: the last stretch that begins here or before. */
function originIn(begins: readonly number[], origins: readonly number[], index: number): number {
  let [low, high] = [0, begins.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((begins[middle] ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return (origins[low] ?? 0) + index - (begins[low] ?? 0);
}
