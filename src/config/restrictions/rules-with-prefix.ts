import type { ClientRules, PolicyRule } from '../../domain/index.ts';

/** Entries in one list of tools, servers or rules. Each may be compared with each tool. */
export const mostEntries = 1_000;

/** A file's rules on tools, for all agents and for single ones. */
export interface ClientFileRules {
  readonly rules: readonly PolicyRule[];
  readonly agents?: ClientRules['agents'];
}

/**
 * The rules of a client for a server whose tools it lists with this prefix. The last rule that matches decides. Undefined
 * if none of them can restrict the server.
 */
export type RulesWithPrefix = (prefix: string) => ClientRules | undefined;

/** All servers of a file share its lists, so that many servers beside many rules cost no more than both. */
export function createRulesWithPrefix({ rules, agents = new Map() }: ClientFileRules): RulesWithPrefix {
  const starts: string[] = [];
  const beforeStar = new Set<string>();
  for (const { pattern, effect } of [rules, ...agents.values()].flat()) {
    if (effect === 'allow') continue;
    const star = pattern.indexOf('*');
    starts.push(star < 0 ? pattern : pattern.slice(0, star));
    if (star >= 0) beforeStar.add(pattern.slice(0, Math.min(star, longestCompared)));
  }
  starts.sort();
  return (prefix) => {
    const next = starts[firstNotBefore(starts, prefix)];
    const mayMeet = next?.startsWith(prefix) === true || someStartIn(prefix, beforeStar);
    return mayMeet ? { prefix, rules, agents } : undefined;
  };
}

/** Of longer texts only the start is compared: at worst a server has rules that do not match its tools. */
const longestCompared = 64;

function someStartIn(text: string, starts: ReadonlySet<string>): boolean {
  if (starts.size === 0) return false;
  for (let end = 0; end <= Math.min(text.length, longestCompared); end++) {
    if (starts.has(text.slice(0, end))) return true;
  }
  return false;
}

function firstNotBefore(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
