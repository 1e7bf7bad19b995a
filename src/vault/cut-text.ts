import { redacted } from './credential-text.ts';

/**
 * Characters behind the cut that are redacted with the rest and then left out: a known value that begins before the cut is
 * recognised by its first 256 characters, and what replaces a secret can be longer than the secret.
 */
export const lookahead = 4096;

/** What was redacted with characters behind the cut, without them; never more than `most` characters and an ellipsis. */
export function shortened(text: string, most: number): string {
  const end = Math.min(most, text.length - lookahead);
  if (end <= 0) return `${redacted}…`;
  // A run without white space that reaches the very end may be a credential whose end nobody has seen.
  const kept = /\s/.test(text.slice(end)) ? end : lastSpace(text, end);
  return `${withoutHalf(text.slice(0, kept))}…`;
}

function lastSpace(text: string, end: number): number {
  for (let at = end; at > 0; at--) if (/\s/.test(text.charAt(at - 1))) return at;
  return 0;
}

/** Without half of a surrogate pair at its end. */
function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
