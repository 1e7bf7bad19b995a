import { isPattern, type PolicyRule, type ToolPolicy } from '../../../domain/index.ts';
import { splitsOfToolName } from '../tool-name.ts';
import type { MatchedRule } from './judge-lists.ts';
import { createPatternIndex } from './pattern-index.ts';
import { plainRuleOf, ruleListsOf } from './rule-lists.ts';
import { strictness } from './strictness.ts';

/** The rules of a set that are the same for all calls and for tools of all classes. */
export interface PlainRules {
  /** The deciding one of them. Undefined if none matches. */
  find(server: string, tool: string): MatchedRule | undefined;
  /** Whether a rule names exactly this tool and no other. */
  names(server: string, tool: string): boolean;
}

export function createPlainRules(policy: ToolPolicy, servers: { has(name: string): boolean }): PlainRules {
  const exact: ExactRules = new Map();
  const patterns = createPatternIndex<{ readonly rule: PolicyRule; readonly order: number }>();
  for (const [order, list] of ruleListsOf(policy).entries()) {
    const rule = plainRuleOf(list);
    if (rule === undefined) continue;
    if (isPattern(rule.pattern)) patterns.add(rule.pattern, { rule, order });
    else addExact(exact, rule, servers);
  }
  return {
    find(server, tool) {
      const named = exact.get(server)?.get(tool);
      if (named?.isAmbiguous === false) return { rule: named.rule, isExact: true };
      let best = named === undefined ? undefined : { rule: named.rule, order: -1 };
      patterns.visit(`${server}.${tool}`, (candidate) => {
        const gap = best === undefined ? 1 : strictness(candidate.rule) - strictness(best.rule);
        if (best === undefined || gap > 0 || (gap === 0 && candidate.order < best.order)) best = candidate;
      });
      return best && { rule: best.rule, isExact: false };
    },
    names: (server, tool) => exact.get(server)?.get(tool)?.isAmbiguous === false,
  };
}

interface ExactRule {
  readonly rule: PolicyRule;
  /** Its name fits tools of several servers. */
  readonly isAmbiguous: boolean;
}

/** By server, then by tool. */
type ExactRules = Map<string, Map<string, ExactRule>>;

function addExact(exact: ExactRules, rule: PolicyRule, servers: { has(name: string): boolean }): void {
  const splits = splitsOfToolName(rule.pattern, servers);
  const isAmbiguous = splits.length > 1;
  // It is unclear which tool is meant, and a server that another file adds must not gain from it.
  if (isAmbiguous && rule.effect === 'allow') return;
  for (const { server, tool } of splits) {
    let tools = exact.get(server);
    if (tools === undefined) {
      tools = new Map();
      exact.set(server, tools);
    }
    const earlier = tools.get(tool);
    if (earlier === undefined || strictness(rule) > strictness(earlier.rule)) tools.set(tool, { rule, isAmbiguous });
  }
}
