import { type CallToDecide, isPattern, type PolicyRule, type ToolPolicy } from '../../../domain/index.ts';
import { splitsOfToolName } from '../tool-name.ts';
import { createPatternIndex } from './pattern-index.ts';
import { strictness } from './strictness.ts';

/** A rule on a tool. One is exact if it names this tool and no other; the rest count as patterns do. */
export interface MatchedRule {
  readonly rule: PolicyRule;
  readonly isExact: boolean;
}

/** The rules of a set that have a condition, beside `always`: the rule that decides without them. */
export interface ConditionalRules {
  readonly isEmpty: boolean;
  matching(server: string, tool: string): readonly MatchedRule[];
  /** The rule that decides on this call. */
  given(always: MatchedRule | undefined, server: string, tool: string, call: CallToDecide): PolicyRule | undefined;
  /** The least strict that some arguments may meet. */
  widest(always: MatchedRule | undefined, server: string, tool: string): PolicyRule | undefined;
  /** What decides where there are no arguments to look at: rules that restrict hold, others do not. */
  strictest(always: MatchedRule | undefined, server: string, tool: string): PolicyRule | undefined;
}

export function createConditionalRules(policy: ToolPolicy, servers: { has(name: string): boolean }): ConditionalRules {
  const rules = policy.rules.filter(({ condition }) => condition !== undefined);
  const named = new Map<string, MatchedRule[]>();
  const patterns = createPatternIndex<MatchedRule>();
  for (const rule of rules) {
    if (isPattern(rule.pattern)) patterns.add(rule.pattern, { rule, isExact: false });
    else addNamed(rule);
  }

  function addNamed(rule: PolicyRule): void {
    const splits = splitsOfToolName(rule.pattern, servers);
    const isExact = splits.length === 1;
    // It is unclear which tool is meant, so the rule may only restrict.
    if (!isExact && rule.effect === 'allow') return;
    for (const { server, tool } of splits) {
      named.set(keyOf(server, tool), [...namedOn(server, tool), { rule, isExact }]);
    }
  }

  function namedOn(server: string, tool: string): readonly MatchedRule[] {
    return named.get(keyOf(server, tool)) ?? [];
  }

  function matching(server: string, tool: string): readonly MatchedRule[] {
    const found = [...namedOn(server, tool)];
    patterns.visit(`${server}.${tool}`, (match) => found.push(match));
    return found;
  }

  function decide(always: MatchedRule | undefined, matched: readonly MatchedRule[]): PolicyRule | undefined {
    return strictestOf(always === undefined ? matched : [always, ...matched]);
  }

  return {
    isEmpty: rules.length === 0,
    matching,
    given(always, server, tool, call) {
      const matched = matching(server, tool).filter(({ rule }) => holds(rule, call));
      return decide(always, matched);
    },
    widest(always, server, tool) {
      // An exact rule without a condition is the least strict result.
      let least = always?.rule;
      if (least === undefined || always?.isExact) return least;
      for (const { rule, isExact } of namedOn(server, tool)) {
        if (isExact && strictness(rule) < strictness(least)) least = rule;
      }
      return least;
    },
    strictest(always, server, tool) {
      if (rules.length === 0) return always?.rule;
      const matched = matching(server, tool).filter(({ rule }) => rule.effect !== 'allow');
      return decide(always, matched);
    },
  };
}

/** Exact rules beat patterns. Of the remaining rules, the strictest decides. */
function strictestOf(all: readonly MatchedRule[]): PolicyRule | undefined {
  const exact = all.filter(({ isExact }) => isExact);
  let best: PolicyRule | undefined;
  for (const { rule } of exact.length > 0 ? exact : all) {
    if (best === undefined || strictness(rule) > strictness(best)) best = rule;
  }
  return best;
}

/** A condition that throws never widens: a restricting rule applies, an allowing one does not. */
function holds({ condition, effect }: PolicyRule, call: CallToDecide): boolean {
  try {
    return condition === undefined || condition.holds(call);
  } catch {
    return effect !== 'allow';
  }
}

/** No name has this character. */
function keyOf(server: string, tool: string): string {
  return `${server}\0${tool}`;
}
