import type { PolicyRule, RuleEffect } from '../../../domain/index.ts';

/** Deny beats ask, and ask beats allow. */
export function strictness({ effect }: PolicyRule): number {
  return strictnessOf[effect];
}

const strictnessOf: Readonly<Record<RuleEffect, number>> = { allow: 0, 'require-approval': 1, deny: 2 };
