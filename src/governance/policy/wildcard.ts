/** A pattern cut at its stars: what a text must start with, contain in this order, and end with. */
export interface Wildcard {
  readonly prefix: string;
  readonly middles: readonly string[];
  readonly suffix: string;
  /** Shorter texts cannot match: prefix and suffix may not overlap. */
  readonly minLength: number;
}

export function isPattern(text: string): boolean {
  return text.includes('*');
}

/** `pattern` must hold at least one `*`; a star stands for any run of characters, also for none. */
export function compileWildcard(pattern: string): Wildcard {
  const parts = pattern.split('*');
  const prefix = parts[0] ?? '';
  const suffix = parts.at(-1) ?? '';
  const middles = parts.slice(1, -1).filter((part) => part !== '');
  return { prefix, middles, suffix, minLength: pattern.length - (parts.length - 1) };
}

/**
 * Takes the leftmost place for each part and never goes back, so no pattern can make it slow.
 * (Leftmost is enough: it leaves the most room for what follows.)
 */
export function matchesWildcard(wildcard: Wildcard, text: string): boolean {
  const { prefix, suffix, middles, minLength } = wildcard;
  if (text.length < minLength || !text.startsWith(prefix) || !text.endsWith(suffix)) return false;
  const end = text.length - suffix.length;
  let from = prefix.length;
  for (const part of middles) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
