import type { PolicyRule, RuleEffect, ToolPolicy } from '../../domain/index.ts';
import { createPatternIndex } from './pattern-index.ts';
import type { Reading } from './reading.ts';
import { createResourceRules } from './resource-rules.ts';
import { splitToolName } from './tool-name.ts';
import { isPattern } from './wildcard.ts';

/** One map of rules, ready to be asked. */
export interface RuleSet {
  /** The rule that decides within this map, or undefined when none speaks of the tool. */
  find(server: string, tool: string): PolicyRule | undefined;
  /** The same for a resource or a prompt; a rule that denies a URI, or wants approval, holds for all its normal forms. */
  findReading(server: string, reading: Reading): PolicyRule | undefined;
}

/** An exact key beats patterns; among patterns the strictest wins, and of equals the first written. */
export function compileRuleSet(policy: ToolPolicy, servers: { has(name: string): boolean }): RuleSet {
  const exact = new Map<string, Map<string, PolicyRule>>();
  const patterns = createPatternIndex<{ readonly rule: PolicyRule; readonly order: number }>();
  for (const [order, rule] of policy.rules.entries()) {
    if (isPattern(rule.pattern)) patterns.add(rule.pattern, { rule, order });
    else addExact(exact, rule, servers);
  }
  const resources = createResourceRules(policy, servers);

  function find(server: string, tool: string): PolicyRule | undefined {
    const named = exact.get(server)?.get(tool);
    if (named !== undefined) return named;
    let best: { readonly rule: PolicyRule; readonly order: number } | undefined;
    patterns.visit(`${server}.${tool}`, (candidate) => {
      const gap = best === undefined ? 1 : strictness(candidate.rule) - strictness(best.rule);
      if (best === undefined || gap > 0 || (gap === 0 && candidate.order < best.order)) best = candidate;
    });
    return best?.rule;
  }

  return {
    find,
    findReading(server, reading) {
      // A rule that names this very spelling stands.
      const named = exact.get(server)?.get(reading.subject);
      if (named !== undefined || resources.isEmpty) return named ?? find(server, reading.subject);
      let best = find(server, reading.subject);
      const consider = (rule: PolicyRule): void => {
        if (best === undefined || strictness(rule) > strictness(best)) best = rule;
      };
      for (const form of reading.forms?.loose ?? []) resources.visit(server, form, consider);
      if (best?.effect === 'deny') return best;
      const onTemplate = ruleOnTemplate(reading, (template) => find(server, template));
      if (onTemplate !== undefined) consider(onTemplate);
      return best;
    },
  };
}

/** The strictest rule on a template that the URI fits. */
function ruleOnTemplate(
  reading: Reading,
  ruleOf: (template: string) => PolicyRule | undefined,
): PolicyRule | undefined {
  for (const effect of ['deny', 'require-approval'] as const) {
    let rule: PolicyRule | undefined;
    const fits = reading.fitsTemplate((template) => {
      rule = ruleOf(template);
      return rule?.effect === effect;
    });
    if (fits) return rule;
  }
  return undefined;
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
