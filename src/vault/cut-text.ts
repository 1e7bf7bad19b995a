import { redacted } from './credential-text.ts';

/**
 * Characters behind the cut that are redacted with the rest and then left out: a known value that begins before the cut is
 * recognised by its first 256 characters, and what replaces a secret can be several times as long as the secret.
 */
export const lookahead = 4096;

/**
 * At most `most` characters and an ellipsis of a text that was redacted. Where the text goes on behind what was redacted
 * (`isOpen`), its last characters may be half of a secret: they are not shown.
 */
export function shortened(text: string, most: number, isOpen: boolean): string {
  const end = Math.min(most, isOpen ? text.length - lookahead : text.length);
  if (end <= 0) return `${redacted}…`;
  if (end === text.length) return text;
  return `${withoutHalf(text.slice(0, isOpen ? beforeOpenToken(text, end) : end))}…`;
}

/** A run without white space up to the very end may be a token or an address with a password: nobody has seen its end. */
function beforeOpenToken(text: string, end: number): number {
  if (/\s/.test(text.slice(end))) return end;
  let start = end;
  while (start > 0 && !/\s/.test(text.charAt(start - 1))) start--;
  const token = text.slice(start).search(/eyJ|:\/\//);
  return token < 0 ? end : Math.min(end, start + token);
}

/** Without half of a surrogate pair at its end. */
function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
