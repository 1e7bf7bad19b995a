import type { PolicyRule, RuleEffect, ToolPolicy } from '../../domain/index.ts';
import { createPatternIndex } from './pattern-index.ts';
import { splitToolName } from './tool-name.ts';
import { isPattern } from './wildcard.ts';

/** One map of rules, ready to be asked. */
export interface RuleSet {
  /** The rule that decides within this map, or undefined when none speaks of the tool. */
  find(server: string, tool: string): PolicyRule | undefined;
}

/** An exact key beats patterns; among patterns the strictest wins, and of equals the first written. */
export function compileRuleSet(policy: ToolPolicy, servers: { has(name: string): boolean }): RuleSet {
  const exact = new Map<string, Map<string, PolicyRule>>();
  const patterns = createPatternIndex<{ readonly rule: PolicyRule; readonly order: number }>();
  for (const [order, rule] of policy.rules.entries()) {
    if (isPattern(rule.pattern)) patterns.add(rule.pattern, { rule, order });
    else addExact(exact, rule, servers);
  }
  return {
    find(server, tool) {
      const named = exact.get(server)?.get(tool);
      if (named !== undefined) return named;
      let best: { readonly rule: PolicyRule; readonly order: number } | undefined;
      patterns.visit(`${server}.${tool}`, (candidate) => {
        const gap = best === undefined ? 1 : strictness(candidate.rule) - strictness(best.rule);
        if (best === undefined || gap > 0 || (gap === 0 && candidate.order < best.order)) best = candidate;
      });
      return best?.rule;
    },
  };
}

export function strictness(rule: PolicyRule): number {
  return strictnessOf[rule.effect];
}

const strictnessOf: Readonly<Record<RuleEffect, number>> = { allow: 0, 'require-approval': 1, deny: 2 };

function addExact(
  exact: Map<string, Map<string, PolicyRule>>,
  rule: PolicyRule,
  servers: { has(name: string): boolean },
): void {
  const name = splitToolName(rule.pattern, servers);
  if (name === undefined) return;
  let tools = exact.get(name.server);
  if (tools === undefined) {
    tools = new Map();
    exact.set(name.server, tools);
  }
  const earlier = tools.get(name.tool);
  if (earlier === undefined || strictness(rule) > strictness(earlier)) tools.set(name.tool, rule);
}
