/**
 * A pattern split at its stars: the text must start with `prefix`, contain `middles` in order and end with `suffix`.
 */
export interface Wildcard {
  readonly prefix: string;
  readonly middles: readonly string[];
  readonly suffix: string;
  /** Shorter texts cannot match, because prefix and suffix must not overlap. */
  readonly minLength: number;
}

export function isPattern(text: string): boolean {
  return text.includes('*');
}

/** A star stands for any run of characters, including none. Throws without one: `p` would mean `p*p`. */
export function compileWildcard(pattern: string): Wildcard {
  if (!isPattern(pattern)) throw new Error('A pattern holds at least one star.');
  const parts = pattern.split('*');
  const prefix = parts[0] ?? '';
  const suffix = parts.at(-1) ?? '';
  const middles = parts.slice(1, -1).filter((part) => part !== '');
  return { prefix, middles, suffix, minLength: pattern.length - (parts.length - 1) };
}

/** For lists that mix names and patterns. A name matches only itself. */
export function compileNameOrPattern(text: string): (name: string) => boolean {
  if (!isPattern(text)) return (name) => name === text;
  const wildcard = compileWildcard(text);
  return (name) => matchesWildcard(wildcard, name);
}

/**
 * Takes the leftmost match for each part and never backtracks, so no pattern can make it slow. Leftmost is enough,
 * because it leaves the most room for the rest.
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
