import { isPattern, type PolicyRule, type ToolPolicy } from '../../../domain/index.ts';
import { appliesToClass, type ToolClasses } from '../tool-class.ts';
import { splitsOfToolName } from '../tool-name.ts';
import type { MatchedList } from './judge-lists.ts';
import { createPatternIndex } from './pattern-index.ts';
import { plainRuleOf, type RuleList, ruleListsOf } from './rule-lists.ts';

/** The lists of a set that look at calls or at the class of a tool. */
export interface ConditionalRules {
  /** Those on a tool, with the clauses that can apply to its class. */
  on(server: string, tool: string, classes: ToolClasses): readonly MatchedList[];
}

export function createConditionalRules(policy: ToolPolicy, servers: { has(name: string): boolean }): ConditionalRules {
  const lists = ruleListsOf(policy).filter((list) => plainRuleOf(list) === undefined);
  const named = new Map<string, MatchedList[]>();
  const patterns = createPatternIndex<MatchedList>();
  for (const list of lists) {
    if (isPattern(list.pattern)) patterns.add(list.pattern, { clauses: list.clauses, isExact: false });
    else addNamed(list);
  }

  function addNamed({ pattern, clauses }: RuleList): void {
    const splits = splitsOfToolName(pattern, servers);
    const isExact = splits.length === 1;
    // If it is unclear which tool is meant, the list may only restrict.
    const usable = isExact ? clauses : clauses.filter(({ effect }) => effect !== 'allow');
    for (const { server, tool } of splits) {
      named.set(keyOf(server, tool), [...namedOn(server, tool), { clauses: usable, isExact }]);
    }
  }

  function namedOn(server: string, tool: string): readonly MatchedList[] {
    return named.get(keyOf(server, tool)) ?? [];
  }

  return {
    on(server, tool, classes) {
      if (lists.length === 0) return [];
      const found = [...namedOn(server, tool)];
      patterns.visit(`${server}.${tool}`, (match) => found.push(match));
      return found.flatMap(({ clauses, isExact }) => {
        const usable = upToCertain(clauses.filter((rule) => appliesToClass(rule, classes)));
        return usable.length === 0 ? [] : [{ clauses: usable, isExact }];
      });
    },
  };
}

/** Clauses after one that applies to every call are never reached. */
export function upToCertain(clauses: readonly PolicyRule[]): readonly PolicyRule[] {
  const certain = clauses.findIndex(({ condition }) => condition === undefined);
  return certain < 0 ? clauses : clauses.slice(0, certain + 1);
}

/** No name has this character. */
function keyOf(server: string, tool: string): string {
  return `${server}\0${tool}`;
}
