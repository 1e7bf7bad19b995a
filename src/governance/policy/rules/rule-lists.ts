import type { PolicyRule, ToolPolicy } from '../../../domain/index.ts';

/** The clauses under one pattern, from top to bottom. The first that holds decides for the pattern. */
export interface RuleList {
  readonly pattern: string;
  readonly clauses: readonly PolicyRule[];
}

export function ruleListsOf({ rules }: ToolPolicy): readonly RuleList[] {
  const lists: { readonly pattern: string; readonly clauses: PolicyRule[] }[] = [];
  for (const rule of rules) {
    const last = lists.at(-1);
    if (rule.otherwise && last?.pattern === rule.pattern) last.clauses.push(rule);
    else lists.push({ pattern: rule.pattern, clauses: [rule] });
  }
  return lists;
}

/** The rule of a list that is the same for all calls and for tools of all classes. Undefined if it is not. */
export function plainRuleOf({ clauses }: RuleList): PolicyRule | undefined {
  const [first] = clauses;
  return first !== undefined && first.condition === undefined && first.kind === undefined ? first : undefined;
}
