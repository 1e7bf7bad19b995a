import type { ClientRules, PolicyRule } from '../../domain/index.ts';

/**
 * The rules of a client for a server whose tools it lists with this prefix. The last rule that matches decides. Undefined
 * if none of them can restrict the server.
 */
export function rulesWithPrefix(
  prefix: string,
  { rules, agents = new Map() }: { readonly rules: readonly PolicyRule[]; readonly agents?: ClientRules['agents'] },
): ClientRules | undefined {
  const restricts = ({ pattern, effect }: PolicyRule): boolean => effect !== 'allow' && mayMeet(pattern, prefix);
  if (![rules, ...agents.values()].some((list) => list.some(restricts))) return undefined;
  return { prefix, rules, agents };
}

/** Whether a name with this prefix can match: the text before the first star must fit. */
function mayMeet(pattern: string, prefix: string): boolean {
  const star = pattern.indexOf('*');
  const literal = star < 0 ? pattern : pattern.slice(0, star);
  return literal.startsWith(prefix) || (star >= 0 && prefix.startsWith(literal));
}
