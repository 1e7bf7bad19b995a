import { isPattern, type PermissionRules, type PolicyRule } from '../../../domain/index.ts';
import { splitsOfToolName } from '../tool-name.ts';
import { resourcePrefix } from '../uris/read-name.ts';
import { upToCertain } from './conditional-rules.ts';
import { judgeLists, leastStrict, type MatchedList } from './judge-lists.ts';
import { createPatternIndex } from './pattern-index.ts';
import type { RuleSet } from './rule-set.ts';
import { strictness } from './strictness.ts';

/** Compiles the rules of one permissions file. They speak of tools; defaults and patterns also count for what is read. */
export function compilePermissions(rules: PermissionRules, servers: { has(name: string): boolean }): RuleSet {
  const ordered = indexRules(rules.ordered, servers);
  const restrictions = indexRules(rules.restrictions, servers);

  function listsOn(server: string, subject: string): readonly MatchedList[] {
    const clauses = upToCertain([...ordered(server, subject), rules.servers.get(server) ?? rules.fallback]);
    const own = restrictions(server, subject).map((rule) => ({ clauses: [rule], isExact: false }));
    return [{ clauses, isExact: false }, ...own];
  }

  return {
    on(server, tool) {
      const lists = listsOn(server, tool);
      const looks = lists.some(({ clauses }) => clauses.some(({ condition }) => condition !== undefined));
      return {
        widest: leastStrict(undefined, lists),
        given: looks
          ? (call) => judgeLists(undefined, lists, (rule) => rule.condition?.holds(call) ?? true)
          : undefined,
      };
    },
    findRead(server, { subject, forms }) {
      const spellings = [subject, ...(forms?.loose ?? []).map((form) => resourcePrefix + form)];
      const found = spellings.flatMap((each) => judgeLists(undefined, listsOn(server, each), () => 'unknown') ?? []);
      return found.reduce((one, other) => (strictness(other) > strictness(one) ? other : one));
    },
  };
}

/** Finds the rules on a tool, in their order. */
function indexRules(
  rules: readonly PolicyRule[],
  servers: { has(name: string): boolean },
): (server: string, tool: string) => readonly PolicyRule[] {
  const exact = new Map<string, number[]>();
  const patterns = createPatternIndex<number>();
  for (const [order, { pattern, effect }] of rules.entries()) {
    if (isPattern(pattern)) {
      patterns.add(pattern, order);
      continue;
    }
    const splits = splitsOfToolName(pattern, servers);
    // If it is unclear which tool is meant, the rule may only restrict.
    if (splits.length > 1 && effect === 'allow') continue;
    for (const { server, tool } of splits) {
      const key = `${server}\0${tool}`;
      exact.set(key, [...(exact.get(key) ?? []), order]);
    }
  }
  return (server, tool) => {
    const found = [...(exact.get(`${server}\0${tool}`) ?? [])];
    patterns.visit(`${server}.${tool}`, (order) => found.push(order));
    return found.sort((one, other) => one - other).flatMap((order) => rules[order] ?? []);
  };
}
