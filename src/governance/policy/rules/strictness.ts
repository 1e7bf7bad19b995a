import type { PolicyRule, RuleEffect } from '../../../domain/index.ts';

/** Deny beats ask, and ask beats allow. */
export function strictness({ effect }: PolicyRule): number {
  return strictnessOf[effect];
}

/** Of equals, the first. */
export function stricterRule(first: PolicyRule | undefined, second: PolicyRule | undefined): PolicyRule | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return strictness(second) > strictness(first) ? second : first;
}

const strictnessOf: Readonly<Record<RuleEffect, number>> = { allow: 0, 'require-approval': 1, deny: 2 };
