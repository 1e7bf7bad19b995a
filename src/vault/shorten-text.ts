import { redacted } from './credential-text.ts';

/**
 * Characters after the cut that are redacted with the rest and then dropped. A known value that begins before the cut
 * is recognised by its first 256 characters, and a replacement can be several times as long as the secret.
 */
export const lookahead = 4096;

/** Cuts a text of more than `most` characters, redacts the rest, and drops what the cut may have split. */
export function cutFirst(text: string, most: number, redact: (part: string, cut: boolean) => string): string {
  if (text.length <= most) return redact(text, false);
  const cut = text.length > most + lookahead;
  return shortened(redact(cut ? text.slice(0, most + lookahead) : text, cut), most, cut);
}

/**
 * Shortens redacted text to at most `most` characters and an ellipsis. With `isOpen`, the original text continues after
 * the redacted part, so the last characters may be half of a secret and are not shown.
 */
function shortened(text: string, most: number, isOpen: boolean): string {
  const end = Math.min(most, isOpen ? text.length - lookahead : text.length);
  if (end <= 0) return `${redacted}…`;
  if (end === text.length) return text;
  return `${withoutHalf(text.slice(0, isOpen ? beforeOpenToken(text, end) : end))}…`;
}

/** A run without white space up to the very end may be a token, or a URL with a password, whose end was cut off. */
function beforeOpenToken(text: string, end: number): number {
  if (/\s/.test(text.slice(end))) return end;
  let start = end;
  while (start > 0 && !/\s/.test(text.charAt(start - 1))) start--;
  const token = text.slice(start).search(/eyJ|:\/\//);
  return token < 0 ? end : Math.min(end, start + token);
}

/** Drops half of a surrogate pair at the end. */
function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
